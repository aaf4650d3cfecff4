module example.com/outer

go 1.19

require example.com/outer/tools v0.0.0

replace example.com/outer/tools => ./tools
