package main

import (
	"fmt"

	"github.com/acme/models/base"
)

type Post struct {
	base.Model
	Title string
}

func NewPost(title string) *Post {
	p := &Post{Title: title}
	p.Touch()
	return p
}

func main() {
	post := NewPost("hi")
	post.Model.Touch()
	fmt.Println(post.Title)
}
