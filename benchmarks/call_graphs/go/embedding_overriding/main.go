package main

import "fmt"

type Handler struct{}

func (Handler) Name() string  { return "handler" }
func (h Handler) Run() string { return "run " + h.Name() }

type Logging struct {
	Handler
	lines int
}

func (l *Logging) Run() string {
	l.lines++
	return l.Handler.Run()
}

func (l *Logging) Name() string { return "logging" }

func main() {
	l := &Logging{}
	fmt.Println(l.Run())
	fmt.Println(l.Name())
}
