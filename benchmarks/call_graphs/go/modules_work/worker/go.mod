module example.com/platform/worker

go 1.19
