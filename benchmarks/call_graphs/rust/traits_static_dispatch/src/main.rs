trait Shape {
    fn area(&self) -> f64;
    fn name(&self) -> String {
        format!("shape of {}", self.area())
    }
}

struct Square(f64);
struct Circle {
    r: f64,
}

impl Shape for Square {
    fn area(&self) -> f64 {
        self.0 * self.0
    }
}

impl Shape for Circle {
    fn area(&self) -> f64 {
        3.0 * self.r * self.r
    }

    fn name(&self) -> String {
        String::from("circle")
    }
}

fn main() {
    let square = Square(2.0);
    let circle = Circle { r: 1.0 };
    println!("{} {}", square.area(), circle.area());
    println!("{} {}", square.name(), circle.name());
}
