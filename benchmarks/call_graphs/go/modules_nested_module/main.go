package main

import (
	"fmt"

	"example.com/outer/gen"
	toolgen "example.com/outer/tools/gen"
)

func main() {
	fmt.Println(gen.Make(), toolgen.Make())
}
