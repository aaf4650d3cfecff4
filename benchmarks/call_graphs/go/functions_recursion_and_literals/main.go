package main

import "fmt"

type Tree struct {
	left, right *Tree
	value       int
}

func (t *Tree) Insert(v int) *Tree {
	if t == nil {
		return leaf(v)
	}
	if v < t.value {
		t.left = t.left.Insert(v)
	} else {
		t.right = t.right.Insert(v)
	}
	return t
}

func leaf(v int) *Tree { return &Tree{value: v} }

func (t *Tree) Walk(visit func(int)) {
	if t == nil {
		return
	}
	t.left.Walk(visit)
	visit(t.value)
	t.right.Walk(visit)
}

func record(v int) { fmt.Println(v) }

func isEven(n int) bool { return n == 0 || isOdd(n-1) }
func isOdd(n int) bool  { return n != 0 && isEven(n-1) }

func main() {
	var root *Tree
	for _, v := range []int{2, 1, 3} {
		root = root.Insert(v)
	}
	root.Walk(record)
	fmt.Println(isEven(3))
	func() {
		record(leaf(9).value)
	}()
}
