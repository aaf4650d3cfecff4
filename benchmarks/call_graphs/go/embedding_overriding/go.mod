module example.com/override

go 1.19
