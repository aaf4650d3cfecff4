package main

import "fmt"

type Handler interface{ Serve(path string) }

type HandlerFunc func(path string)

func (f HandlerFunc) Serve(path string) { f(path) }

func home(path string)  { fmt.Println("home", path) }
func about(path string) { fmt.Println("about", path) }

type Mux struct{ routes map[string]Handler }

func (m *Mux) Handle(path string, h Handler) { m.routes[path] = h }
func (m *Mux) HandleFunc(path string, f func(string)) {
	m.Handle(path, HandlerFunc(f))
}

func (m *Mux) Serve(path string) { m.routes[path].Serve(path) }

func main() {
	mux := &Mux{routes: map[string]Handler{}}
	mux.HandleFunc("/", home)
	mux.Handle("/about", HandlerFunc(about))
	mux.Serve("/")
	mux.Serve("/about")
}
