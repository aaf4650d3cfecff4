package main

import (
	"fmt"
	"log"

	oldlog "example.com/aliases/pkg/v1/log"
	newlog "example.com/aliases/pkg/v2/log"
)

func main() {
	fmt.Println(oldlog.Info("a"))
	fmt.Println(newlog.Info("b"))
	log.Println("c")
}
