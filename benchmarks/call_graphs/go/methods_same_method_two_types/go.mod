module example.com/twotypes

go 1.19
