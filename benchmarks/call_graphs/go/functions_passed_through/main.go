package main

import (
	"errors"
	"fmt"
)

type op func() error

func retry(times int, f op) error {
	var err error
	for i := 0; i < times; i++ {
		if err = attempt(f); err == nil {
			return nil
		}
	}
	return err
}

func attempt(f op) error { return f() }

func flaky() error  { return errors.New("no") }
func stable() error { return nil }

func main() {
	fmt.Println(retry(2, flaky), retry(1, stable))
}
