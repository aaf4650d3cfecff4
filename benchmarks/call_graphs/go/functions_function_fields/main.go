package main

import "fmt"

type Command struct {
	Use    string
	Run    func(args []string)
	PreRun func()
}

func (c *Command) Execute(args []string) {
	if c.PreRun != nil {
		c.PreRun()
	}
	c.Run(args)
}

func serve(args []string)   { fmt.Println("serve", args) }
func migrate(args []string) { fmt.Println("migrate", args) }
func prepare()              { fmt.Println("prepare") }

var serveCmd = &Command{Use: "serve", Run: serve, PreRun: prepare}

func newMigrate() *Command {
	c := &Command{Use: "migrate"}
	c.Run = migrate
	return c
}

func main() {
	serveCmd.Execute([]string{"a"})
	newMigrate().Execute(nil)
}
