use std::cmp::PartialEq;
use std::ops::{Add, AddAssign, Index, Neg};

#[derive(Clone, Copy, Debug)]
struct Point {
    x: i32,
    y: i32,
}

impl Add for Point {
    type Output = Point;

    fn add(self, other: Point) -> Point {
        Point { x: self.x + other.x, y: self.y + other.y }
    }
}

impl AddAssign for Point {
    fn add_assign(&mut self, other: Point) {
        self.x += other.x;
        self.y += other.y;
    }
}

impl Neg for Point {
    type Output = Point;

    fn neg(self) -> Point {
        Point { x: -self.x, y: -self.y }
    }
}

impl PartialEq for Point {
    fn eq(&self, other: &Point) -> bool {
        self.x == other.x && self.y == other.y
    }
}

struct Path(Vec<Point>);

impl Index<usize> for Path {
    type Output = Point;

    fn index(&self, at: usize) -> &Point {
        &self.0[at]
    }
}

fn main() {
    let a = Point { x: 1, y: 2 };
    let mut b = a + Point { x: 3, y: 4 };
    b += a;
    let c = -b;
    println!("{}", c == a);
    let path = Path(vec![a, b]);
    println!("{:?}", path[0]);
}
