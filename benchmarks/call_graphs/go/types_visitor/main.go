package main

import (
	"fmt"

	"example.com/visitor/ast"
)

type printer struct{ depth int }

func (p *printer) VisitIdent(i *ast.Ident) { p.line(i.Name) }
func (p *printer) VisitCall(c *ast.Call) {
	p.depth++
	for _, arg := range c.Args {
		arg.Accept(p)
	}
	p.depth--
}
func (p *printer) line(s string) { fmt.Println(p.depth, s) }

func main() {
	tree := &ast.Call{Args: []ast.Node{&ast.Ident{Name: "x"}}}
	tree.Accept(&printer{})
}
