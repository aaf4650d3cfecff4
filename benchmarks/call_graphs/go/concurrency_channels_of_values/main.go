package main

import (
	"fmt"
	"sync"
)

type Event struct{ name string }

func (e Event) Describe() string { return "event " + e.name }

type Bus struct {
	mu     sync.Mutex
	events chan Event
	tasks  chan func()
}

func (b *Bus) Publish(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.events <- Event{name}
}

func tick() { fmt.Println("tick") }

func main() {
	bus := &Bus{events: make(chan Event, 1), tasks: make(chan func(), 1)}
	bus.Publish("start")
	e := <-bus.events
	fmt.Println(e.Describe())
	bus.tasks <- tick
	task := <-bus.tasks
	task()
	close(bus.events)
	for late := range bus.events {
		fmt.Println(late.Describe())
	}
}
