package main

import "fmt"

type Driver interface{ Exec(q string) string }

type postgres struct{}
type sqlite struct{ path string }

func (postgres) Exec(q string) string  { return "pg " + q }
func (s *sqlite) Exec(q string) string { return s.path + q }

func Open(kind string) (Driver, error) {
	switch kind {
	case "pg":
		return postgres{}, nil
	case "sqlite":
		return newSqlite(":memory:"), nil
	}
	return nil, fmt.Errorf("unknown %s", kind)
}

func newSqlite(path string) *sqlite { return &sqlite{path} }

func main() {
	for _, kind := range []string{"pg", "sqlite"} {
		d, err := Open(kind)
		if err != nil {
			panic(err)
		}
		fmt.Println(d.Exec("select 1"))
	}
}
