package main

import "fmt"

type Reader interface{ Read() string }
type Writer interface{ Write(s string) }
type ReadWriter interface {
	Reader
	Writer
}

type buffer struct{ data []string }

func (b *buffer) Read() string {
	last := b.data[len(b.data)-1]
	return last
}
func (b *buffer) Write(s string) { b.data = append(b.data, s) }

func copyTo(rw ReadWriter) string {
	rw.Write("hello")
	return rw.Read()
}

func open() ReadWriter { return &buffer{} }

func main() {
	fmt.Println(copyTo(open()))
}
