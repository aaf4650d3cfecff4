package main

import (
	"fmt"
	"sync"
)

type db struct{ name string }

func (d *db) Ping() string { return d.name }

var (
	once     sync.Once
	instance *db
)

func connect(name string) *db { return &db{name} }

func Instance() *db {
	once.Do(func() {
		instance = connect("main")
	})
	return instance
}

func main() {
	fmt.Println(Instance().Ping())
	fmt.Println(instance.Ping())
}
