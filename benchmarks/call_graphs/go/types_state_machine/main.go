package main

import "fmt"

type lexer struct {
	input string
	pos   int
	items []string
}

type stateFn func(*lexer) stateFn

func (l *lexer) run() {
	for state := lexText; state != nil; {
		state = state(l)
	}
}

func (l *lexer) emit(s string) { l.items = append(l.items, s) }

func lexText(l *lexer) stateFn {
	if l.pos >= len(l.input) {
		return nil
	}
	l.emit("text")
	return lexDigit
}

func lexDigit(l *lexer) stateFn {
	l.pos++
	l.emit("digit")
	return lexText
}

func main() {
	l := &lexer{input: "a1"}
	l.run()
	fmt.Println(l.items)
}
