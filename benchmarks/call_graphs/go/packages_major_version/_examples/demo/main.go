package main

import (
	"fmt"

	"github.com/acme/router/v5"
)

func main() {
	r := router.New()
	r.Use("log")
	fmt.Println(r.Len())
}
