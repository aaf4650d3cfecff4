package main

import (
	"errors"
	"fmt"
)

type NotFound struct{ key string }

func (e *NotFound) Error() string    { return "no " + e.describe() }
func (e *NotFound) describe() string { return e.key }

func find(key string) error {
	if key == "" {
		return nil
	}
	return &NotFound{key}
}

func wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("find: %w", err)
}

func main() {
	err := wrap(find("x"))
	var missing *NotFound
	if errors.As(err, &missing) {
		fmt.Println(missing.describe())
	}
	plain := find("y")
	fmt.Println(plain.Error())
}
