module example.com/generictypes

go 1.19
