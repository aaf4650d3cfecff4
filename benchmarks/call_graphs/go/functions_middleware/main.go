package main

import "fmt"

type Handler func(string) string
type Middleware func(Handler) Handler

func logging(next Handler) Handler {
	return func(s string) string {
		trace(s)
		return next(s)
	}
}

func upper(next Handler) Handler {
	return func(s string) string { return next(s + "!") }
}

func trace(s string) { fmt.Println("trace", s) }

func chain(h Handler, ms ...Middleware) Handler {
	for _, m := range ms {
		h = m(h)
	}
	return h
}

func hello(name string) string { return "hello " + name }

func main() {
	h := chain(hello, logging, upper)
	fmt.Println(h("ann"))
}
