package main

import "fmt"

type File struct{ name string }
type Socket struct{ port int }

func (f *File) Close() error   { return release(f.name) }
func (s *Socket) Close() error { return release(fmt.Sprint(s.port)) }

func release(what string) error {
	fmt.Println("released", what)
	return nil
}

func openFile(name string) (*File, error) {
	return &File{name: name}, nil
}

func dial(port int) *Socket { return &Socket{port} }

func main() {
	f, err := openFile("a")
	if err != nil {
		return
	}
	defer f.Close()
	s := dial(80)
	s.Close()
}
