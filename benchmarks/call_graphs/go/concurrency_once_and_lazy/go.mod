module example.com/once

go 1.19
