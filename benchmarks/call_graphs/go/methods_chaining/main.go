package main

import (
	"fmt"
	"strings"
)

type Query struct{ parts []string }

func From(table string) *Query { return &Query{parts: []string{"from " + table}} }

func (q *Query) Where(cond string) *Query { return q.add("where " + cond) }
func (q *Query) Limit(n int) *Query       { return q.add(fmt.Sprintf("limit %d", n)) }

func (q *Query) add(part string) *Query {
	q.parts = append(q.parts, part)
	return q
}

func (q *Query) Build() string { return strings.Join(q.parts, " ") }

func main() {
	sql := From("users").
		Where("age > 3").
		Limit(10).
		Build()
	fmt.Println(sql)
}
