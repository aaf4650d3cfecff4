package main

import "fmt"

type Counter struct{ n int }

func (c *Counter) Add(by int)  { c.n += by }
func (c Counter) Value() int   { return c.n }
func (c *Counter) Reset()      { c.n = 0 }
func apply(f func(int), n int) { f(n) }

func main() {
	c := &Counter{}
	add := c.Add
	add(3)
	apply(c.Add, 4)
	value := Counter.Value
	fmt.Println(value(*c))
	reset := (*Counter).Reset
	reset(c)
}
