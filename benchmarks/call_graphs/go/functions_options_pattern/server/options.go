package server

import "time"

type Option func(*Server)

func WithPort(port int) Option {
	return func(s *Server) { s.setPort(port) }
}

func WithTimeout(d time.Duration) Option {
	return func(s *Server) { s.timeout = d }
}
