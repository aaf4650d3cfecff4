package cart

import "github.com/acme/shop/price"

type Cart struct{ items []price.Item }

func New() *Cart { return &Cart{} }

func (c *Cart) Add(name string, cents int) {
	c.items = append(c.items, price.NewItem(name, cents))
}

func (c *Cart) Total() int { return price.Sum(c.items) }
