package main

import "fmt"

type Scorer interface{ Score() int }

type Player struct{ points int }
type Team struct{ players []Player }

func (p Player) Score() int { return p.points }
func (t Team) Score() int   { return Sum(t.players) }

func Sum[S Scorer](xs []S) int {
	total := 0
	for _, x := range xs {
		total += x.Score()
	}
	return total
}

type Set[K comparable] map[K]struct{}

func (s Set[K]) Add(k K) { s[k] = struct{}{} }

func Keys[K comparable](s Set[K]) int { return len(s) }

func main() {
	fmt.Println(Sum([]Team{{[]Player{{1}, {2}}}}))
	set := Set[string]{}
	set.Add("a")
	fmt.Println(Keys(set))
}
