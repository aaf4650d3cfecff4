module example.com/app

go 1.19

require github.com/acme/greet v1.2.3

replace github.com/acme/greet => ./third_party/greet
