package main

import (
	"fmt"

	"example.com/typedefs/core"
)

type Engine = core.Engine

var NewEngine = core.NewEngine

type Turbo core.Engine

func (t *Turbo) Run() int { return 2 }

func start(e *Engine) int { return e.Run() }

func main() {
	fmt.Println(start(NewEngine()))
	turbo := (*Turbo)(core.NewEngine())
	fmt.Println(turbo.Run())
}
