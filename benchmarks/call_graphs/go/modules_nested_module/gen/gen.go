package gen

func Make() string { return "outer" }
