package main

import "fmt"

type Logger struct{ prefix string }

func (l *Logger) Info(msg string) { fmt.Println(l.prefix + msg) }

type Config struct{ Log *Logger }

type Server struct {
	cfg Config
	log Logger
}

func (s *Server) Start() {
	s.cfg.Log.Info("start")
	s.log.Info("local")
}

type Tracker struct{}

func (Tracker) Info(msg string) { fmt.Println("tracked", msg) }

func main() {
	srv := Server{cfg: Config{Log: &Logger{"> "}}}
	srv.Start()
	var t Tracker
	t.Info("x")
}
