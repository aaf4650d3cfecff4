module example.com/expr

go 1.19
