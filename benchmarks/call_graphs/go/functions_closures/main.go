package main

import "fmt"

func step(n int) int { return n + 1 }

func counter() func() int {
	n := 0
	return func() int {
		n = step(n)
		return n
	}
}

func each(xs []int, f func(int)) {
	for _, x := range xs {
		f(x)
	}
}

func show(n int) { fmt.Println(n) }

func main() {
	next := counter()
	next()
	each([]int{1, 2}, func(x int) {
		show(x)
	})
	each([]int{3}, show)
}
