package yaml

type Codec struct{}

func New() *Codec { return &Codec{} }

func (c *Codec) Encode(v string) string { return quote(v) }

func quote(v string) string { return "'" + v + "'" }
