module github.com/acme/router/v5

go 1.19
