package main

import "fmt"

type Store interface {
	Get(key string) string
	Put(key, value string)
}

type memory struct{ data map[string]string }

func (m *memory) Get(key string) string { return m.data[key] }
func (m *memory) Put(key, value string) { m.data[key] = value }

type counting struct {
	Store
	gets int
}

func (c *counting) Get(key string) string {
	c.gets++
	return c.Store.Get(key)
}

func fill(s Store) {
	s.Put("a", "1")
}

func main() {
	c := &counting{Store: &memory{map[string]string{}}}
	fill(c)
	fmt.Println(c.Get("a"), c.gets)
}
