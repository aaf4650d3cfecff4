package main

import (
	"fmt"

	"example.com/generictypes/stack"
)

type Job struct{ name string }

func (j Job) Run() { fmt.Println(j.name) }

func main() {
	s := stack.New[Job]()
	s.Push(Job{"a"})
	job, ok := s.Pop()
	if ok {
		job.Run()
	}
}
