package middleware

func Name(s string) string { return "mw-" + s }
