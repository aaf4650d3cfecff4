package main

import (
	"fmt"

	"example.com/differs/go-yaml"
)

func main() {
	fmt.Println(yaml.Unmarshal("a: b"))
}
