module example.com/dots

go 1.19
