package main

import "fmt"

type Base struct{ id int }

func (b *Base) ID() int     { return b.id }
func (b *Base) Save() error { return persist(b.ID()) }

func persist(id int) error {
	fmt.Println("saved", id)
	return nil
}

type User struct {
	Base
	name string
}

type Admin struct {
	*User
	level int
}

func (a *Admin) Promote() {
	a.level++
	if err := a.Save(); err != nil {
		panic(err)
	}
}

func main() {
	u := &User{Base{1}, "ann"}
	fmt.Println(u.ID())
	admin := Admin{User: u}
	admin.Promote()
	admin.User.Save()
}
