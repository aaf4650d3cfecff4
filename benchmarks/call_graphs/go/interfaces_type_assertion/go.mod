module example.com/assertion

go 1.19
