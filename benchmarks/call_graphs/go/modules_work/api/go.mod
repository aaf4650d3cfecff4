module example.com/platform/api

go 1.19
