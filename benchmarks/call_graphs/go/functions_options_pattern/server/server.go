package server

import "time"

type Server struct {
	port    int
	timeout time.Duration
}

func New(opts ...Option) *Server {
	s := defaults()
	for _, opt := range opts {
		opt(s)
	}
	return s
}

func defaults() *Server { return &Server{port: 80} }

func (s *Server) setPort(port int) { s.port = port }

func (s *Server) Port() int { return s.port }
