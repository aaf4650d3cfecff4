package main

import (
	"fmt"

	"example.com/platform/api/client"
)

func run(c *client.Client) string { return c.Call("run") }

func main() {
	c, err := client.Dial("localhost")
	if err != nil {
		panic(err)
	}
	fmt.Println(run(c))
}
