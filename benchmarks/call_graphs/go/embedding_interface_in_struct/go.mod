module example.com/wrapped

go 1.19
