package main

import (
	"fmt"

	"github.com/acme/greet"
	"github.com/acme/greet/lang"
)

func main() {
	fmt.Println(greet.Hello("ann"), lang.Word("de"))
}
