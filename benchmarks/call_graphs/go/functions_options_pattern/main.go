package main

import (
	"fmt"
	"time"

	"example.com/options/server"
)

func main() {
	s := server.New(server.WithPort(8080), server.WithTimeout(time.Second))
	fmt.Println(s.Port())
}
