package gen

func Make() string { return part() }

func part() string { return "tools" }
