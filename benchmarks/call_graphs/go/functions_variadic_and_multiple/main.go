package main

import "fmt"

func join(parts ...string) string {
	out := ""
	for _, p := range parts {
		out += clean(p)
	}
	return out
}

func clean(s string) string { return s }

func split(s string) (string, string) { return s[:1], s[1:] }

func must(s string, err error) string {
	if err != nil {
		panic(err)
	}
	return s
}

func load() (string, error) { return "ab", nil }

func main() {
	fmt.Println(join(split("abc")))
	all := []string{"x", "y"}
	fmt.Println(join(all...), must(load()))
}
