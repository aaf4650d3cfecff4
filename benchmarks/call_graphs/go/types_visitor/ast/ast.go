package ast

type Visitor interface {
	VisitIdent(*Ident)
	VisitCall(*Call)
}

type Node interface{ Accept(v Visitor) }

type Ident struct{ Name string }
type Call struct{ Args []Node }

func (i *Ident) Accept(v Visitor) { v.VisitIdent(i) }
func (c *Call) Accept(v Visitor)  { v.VisitCall(c) }
