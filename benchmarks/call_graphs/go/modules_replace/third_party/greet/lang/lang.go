package lang

func Word(code string) string {
	if code == "de" {
		return "hallo"
	}
	return "hello"
}
