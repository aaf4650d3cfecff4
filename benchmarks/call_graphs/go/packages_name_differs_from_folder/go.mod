module example.com/differs

go 1.19
