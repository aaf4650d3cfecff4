module github.com/acme/models

go 1.19
