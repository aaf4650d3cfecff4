package main

import "fmt"

func Map[T, U any](xs []T, f func(T) U) []U {
	var out []U
	for _, x := range xs {
		out = append(out, f(x))
	}
	return out
}

func Filter[T any](xs []T, keep func(T) bool) []T {
	var out []T
	for _, x := range xs {
		if keep(x) {
			out = append(out, x)
		}
	}
	return out
}

func double(n int) int    { return n * 2 }
func positive(n int) bool { return n > 0 }

func main() {
	xs := Filter([]int{-1, 2}, positive)
	fmt.Println(Map(xs, double))
	fmt.Println(Map[int, string](xs, func(n int) string { return label(n) }))
}

func label(n int) string { return fmt.Sprint("n", n) }
