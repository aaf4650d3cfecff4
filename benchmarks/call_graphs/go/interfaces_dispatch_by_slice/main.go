package main

import "fmt"

type Shape interface {
	Area() float64
}

type Square struct{ side float64 }
type Circle struct{ r float64 }

func (s Square) Area() float64  { return s.side * s.side }
func (c *Circle) Area() float64 { return 3 * c.r * c.r }

// Point has no area that anyone asks for.
type Point struct{ x, y float64 }

func (p Point) Norm() float64 { return p.x + p.y }

func total(shapes []Shape) (sum float64) {
	for _, shape := range shapes {
		sum += shape.Area()
	}
	return sum
}

func main() {
	fmt.Println(total([]Shape{Square{2}, &Circle{1}}))
	fmt.Println(Point{1, 2}.Norm())
}
