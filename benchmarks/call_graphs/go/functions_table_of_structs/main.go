package main

import (
	"fmt"
	"strings"
)

type rule struct {
	name  string
	check func(string) bool
}

func isEmpty(s string) bool   { return s == "" }
func isUpper(s string) bool   { return s == strings.ToUpper(s) }
func neverUsed(s string) bool { return false }

var rules = []rule{
	{"empty", isEmpty},
	{name: "upper", check: isUpper},
}

func violations(s string) (found []string) {
	for _, r := range rules {
		if r.check(s) {
			found = append(found, r.name)
		}
	}
	return found
}

func main() {
	fmt.Println(violations("ABC"))
}
