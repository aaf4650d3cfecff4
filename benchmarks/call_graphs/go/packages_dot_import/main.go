package main

import (
	"fmt"

	. "example.com/dots/matchers"
)

func expect(got int, m Matcher) {
	fmt.Println(m.Match(got))
}

func main() {
	expect(1, Equal(1))
}
