module example.com/readwriter

go 1.19
