package main

import (
	"fmt"

	"example.com/tool/internal/config"
	"example.com/tool/internal/runner"
)

func main() {
	cfg := config.Load("path")
	fmt.Println(runner.Run(cfg))
}
