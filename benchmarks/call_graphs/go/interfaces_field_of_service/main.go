package main

import (
	"log"

	"example.com/service/repo"
	"example.com/service/service"
)

func main() {
	users := service.New(repo.NewSQL("dsn"))
	if err := users.Rename(1, "ann"); err != nil {
		log.Fatal(err)
	}
}
