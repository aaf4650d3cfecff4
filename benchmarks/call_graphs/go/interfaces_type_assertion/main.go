package main

import "fmt"

type Plugin interface{ Name() string }

type Closer interface{ Close() }

type disk struct{}

func (disk) Name() string { return "disk" }
func (disk) Close()       { fmt.Println("closed") }

type clock struct{}

func (clock) Name() string { return "clock" }
func (clock) Tick() int    { return 1 }

func stop(p Plugin) {
	if c, ok := p.(Closer); ok {
		c.Close()
	}
	fmt.Println(p.Name())
}

func main() {
	stop(disk{})
	stop(clock{})
	var any interface{} = clock{}
	fmt.Println(any.(clock).Tick())
}
