package main

import "fmt"

type config struct {
	user    string
	retries int
}

type DialOption interface{ apply(*config) }

type funcOption struct{ f func(*config) }

func (o funcOption) apply(c *config) { o.f(c) }

type userOption string

func (u userOption) apply(c *config) { c.user = string(u) }

func newFuncOption(f func(*config)) DialOption { return &funcOption{f} }

func WithRetries(n int) DialOption {
	return newFuncOption(func(c *config) { c.retries = n })
}

func WithUser(name string) DialOption { return userOption(name) }

func Dial(opts ...DialOption) config {
	var c config
	for _, o := range opts {
		o.apply(&c)
	}
	return c
}

func main() {
	fmt.Println(Dial(WithUser("ann"), WithRetries(2)))
}
