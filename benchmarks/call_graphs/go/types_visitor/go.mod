module example.com/visitor

go 1.19
