module example.com/dialoptions

go 1.19
