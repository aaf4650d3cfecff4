package main

import (
	"fmt"
	"sync"
)

type Pool struct {
	wg   sync.WaitGroup
	jobs chan int
}

func NewPool() *Pool { return &Pool{jobs: make(chan int, 4)} }

func (p *Pool) worker() {
	defer p.done()
	for job := range p.jobs {
		handle(job)
	}
}

func (p *Pool) done() { p.wg.Done() }

func handle(job int) {
	defer recoverJob()
	fmt.Println("job", job)
}

func recoverJob() { recover() }

func (p *Pool) Run(n int) {
	p.wg.Add(1)
	go p.worker()
	for i := 0; i < n; i++ {
		p.jobs <- i
	}
	close(p.jobs)
	p.wg.Wait()
}

func main() {
	pool := NewPool()
	pool.Run(2)
}
