package price

type Item struct {
	Name  string
	cents int
}

func NewItem(name string, cents int) Item { return Item{name, round(cents)} }

func (i Item) Cents() int { return i.cents }
