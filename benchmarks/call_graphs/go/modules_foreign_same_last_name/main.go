package main

import (
	"fmt"
	"sort"
	"strings"

	own "example.com/foreign/strings"
)

type sorter struct{}

func (sorter) Strings(xs []string) {}

func main() {
	xs := []string{"b", "a"}
	sort.Strings(xs)
	sorter{}.Strings(xs)
	fmt.Println(strings.Repeat("a", 2), own.Repeat("b"), own.Title("c"))
}
