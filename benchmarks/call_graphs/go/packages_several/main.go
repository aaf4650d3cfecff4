package main

import (
	"fmt"

	"github.com/acme/shop/cart"
)

func main() {
	c := cart.New()
	c.Add("pen", 199)
	fmt.Println(c.Total())
}
