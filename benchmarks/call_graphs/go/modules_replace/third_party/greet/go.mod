module github.com/acme/greet

go 1.19
