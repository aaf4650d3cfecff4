package main

import "fmt"

func size(s string) int { return len(s) }

func max(a, b int) int {
	if a > b {
		return a
	}
	return b
}

func shadowed(size func(string) int) int {
	return size("abc")
}

func constant(string) int { return 7 }

func local() int {
	max := func(a, b int) int { return a }
	return max(1, 2)
}

func main() {
	fmt.Println(size("a"), shadowed(constant), local(), max(1, 2))
	len := size
	fmt.Println(len("abc"))
}
