package strings

func Title(s string) string { return s + "!" }

func Repeat(s string) string { return s + s }
