package greet

import "github.com/acme/greet/lang"

func Hello(name string) string { return lang.Word("en") + " " + name }
