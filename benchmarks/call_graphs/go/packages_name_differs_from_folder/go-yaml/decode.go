package yaml

func Unmarshal(text string) map[string]string {
	d := newDecoder(text)
	return d.decode()
}

type decoder struct{ text string }

func newDecoder(text string) *decoder { return &decoder{text} }

func (d *decoder) decode() map[string]string { return map[string]string{"text": d.text} }
