struct Celsius(f64);

impl Celsius {
    fn new(degrees: f64) -> Self {
        Celsius(degrees)
    }

    fn degrees(&self) -> f64 {
        self.0
    }
}

fn convert(make: fn(f64) -> Celsius, n: f64) -> Celsius {
    make(n)
}

fn read<T>(value: &T, get: impl Fn(&T) -> f64) -> f64 {
    get(value)
}

fn main() {
    let make = Celsius::new;
    let a = make(1.0);
    let b = convert(Celsius::new, 2.0);
    println!("{} {}", read(&a, Celsius::degrees), b.degrees());
}
