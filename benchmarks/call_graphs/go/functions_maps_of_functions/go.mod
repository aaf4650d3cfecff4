module example.com/commands

go 1.19
