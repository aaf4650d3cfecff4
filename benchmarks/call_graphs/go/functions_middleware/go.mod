module example.com/middleware

go 1.19
