package calc_test

import (
	"testing"

	"example.com/calc"
)

func check(t *testing.T, got, want int) {
	t.Helper()
	if got != want {
		t.Errorf("got %d, want %d", got, want)
	}
}

func TestAdd(t *testing.T) {
	tests := []struct {
		name string
		n    int
	}{{"one", 1}, {"two", 2}}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := calc.New()
			check(t, c.Add(tt.n).Total(), tt.n)
		})
	}
}
