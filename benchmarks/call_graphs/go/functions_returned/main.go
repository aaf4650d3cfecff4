package main

import "fmt"

type compare func(a, b int) bool

func less(a, b int) bool    { return a < b }
func greater(a, b int) bool { return a > b }

func order(desc bool) compare {
	if desc {
		return greater
	}
	return less
}

func best(xs []int, cmp compare) int {
	found := xs[0]
	for _, x := range xs[1:] {
		if cmp(x, found) {
			found = x
		}
	}
	return found
}

func main() {
	fmt.Println(best([]int{1, 2}, order(true)))
	fmt.Println(order(false)(1, 2))
}
