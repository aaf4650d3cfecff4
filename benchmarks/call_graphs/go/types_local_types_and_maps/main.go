package main

import "fmt"

type session struct{ id string }

func (s *session) refresh() string { return s.id }

type user struct{ name string }

func (u user) greet() string { return "hi " + u.name }

type cache struct {
	byID  map[string]*session
	users []user
}

func (c *cache) lookup(id string) (*session, bool) {
	s, ok := c.byID[id]
	return s, ok
}

func main() {
	c := &cache{byID: map[string]*session{"a": {id: "a"}}, users: []user{{"ann"}}}
	if s, ok := c.lookup("a"); ok {
		fmt.Println(s.refresh())
	}
	for _, s := range c.byID {
		fmt.Println(s.refresh())
	}
	fmt.Println(c.users[0].greet())
	for i := range c.users {
		fmt.Println(c.users[i].greet())
	}
	type pair struct {
		u user
		n int
	}
	p := pair{u: c.users[0]}
	fmt.Println(p.u.greet())
}
