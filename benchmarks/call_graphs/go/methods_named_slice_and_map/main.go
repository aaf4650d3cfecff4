package main

import (
	"fmt"
	"strings"
)

type Header map[string][]string

func (h Header) Add(key, value string) {
	key = canonical(key)
	h[key] = append(h[key], value)
}

func (h Header) Get(key string) string {
	if values := h[canonical(key)]; len(values) > 0 {
		return values[0]
	}
	return ""
}

func canonical(key string) string { return strings.ToLower(key) }

type IDs []int

func (ids IDs) Has(id int) bool {
	for _, each := range ids {
		if each == id {
			return true
		}
	}
	return false
}

type Celsius float64

func (c Celsius) Fahrenheit() float64 { return float64(c)*9/5 + 32 }

func main() {
	h := Header{}
	h.Add("Host", "x")
	fmt.Println(h.Get("host"), IDs{1, 2}.Has(2), Celsius(20).Fahrenheit())
}
