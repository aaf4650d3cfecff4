module example.com/headers

go 1.19
