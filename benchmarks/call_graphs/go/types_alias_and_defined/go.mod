module example.com/typedefs

go 1.19
