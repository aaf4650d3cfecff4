package router

import "github.com/acme/router/v5/middleware"

type Router struct{ stack []string }

func New() *Router { return &Router{} }

func (r *Router) Use(name string) {
	r.stack = append(r.stack, middleware.Name(name))
}

func (r *Router) Len() int { return len(r.stack) }
