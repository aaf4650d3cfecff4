package core

type Engine struct{ speed int }

func NewEngine() *Engine { return &Engine{1} }

func (e *Engine) Run() int { return e.speed }
