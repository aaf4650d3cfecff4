package main

import (
	"fmt"

	"example.com/pkgvars/registry"
)

var limit = compute(3)

func compute(n int) int { return n * 2 }

func init() {
	registry.Register("a")
}

func init() {
	registry.Default.Register("b")
}

func main() {
	fmt.Println(limit)
}
