module example.com/genericfuncs

go 1.19
