module example.com/outer/tools

go 1.19
