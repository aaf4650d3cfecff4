package main

import "fmt"

type command func(args []string) error

var commands = map[string]command{
	"add":  runAdd,
	"list": runList,
}

func runAdd(args []string) error  { return store(args[0]) }
func runList(args []string) error { return nil }

func store(item string) error {
	fmt.Println("stored", item)
	return nil
}

func unused(args []string) error { return nil }

func dispatch(name string, args []string) error {
	cmd, ok := commands[name]
	if !ok {
		return fmt.Errorf("no %s", name)
	}
	return cmd(args)
}

func main() {
	for _, name := range []string{"add", "list", "none"} {
		if err := dispatch(name, []string{"x"}); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(commands["list"](nil))
}
