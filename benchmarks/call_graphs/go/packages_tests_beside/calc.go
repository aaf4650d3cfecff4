package calc

type Calc struct{ total int }

func New() *Calc { return &Calc{} }

func (c *Calc) Add(n int) *Calc {
	c.total = sum(c.total, n)
	return c
}

func (c *Calc) Total() int { return c.total }

func sum(a, b int) int { return a + b }
