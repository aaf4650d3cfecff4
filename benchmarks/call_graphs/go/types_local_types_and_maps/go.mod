module example.com/localtypes

go 1.19
