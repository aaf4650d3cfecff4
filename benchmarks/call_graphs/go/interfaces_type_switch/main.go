package main

import "fmt"

type Node interface{ node() }

type Num struct{ value int }
type Add struct{ left, right Node }

func (*Num) node() {}
func (*Add) node() {}

func (n *Num) Literal() int          { return n.value }
func (a *Add) Operands() (x, y Node) { return a.left, a.right }

func eval(n Node) int {
	switch n := n.(type) {
	case *Num:
		return n.Literal()
	case *Add:
		x, y := n.Operands()
		return eval(x) + eval(y)
	default:
		panic("unknown")
	}
}

func main() {
	tree := &Add{&Num{1}, &Num{2}}
	fmt.Println(eval(tree))
}
