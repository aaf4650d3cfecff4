pub struct Temperature(f64);

impl Temperature {
    pub const ZERO: Temperature = Temperature::of(0.0);

    pub const fn of(degrees: f64) -> Self {
        Self(degrees)
    }

    pub fn from_fahrenheit(f: f64) -> Self {
        Self::of(Self::convert(f))
    }

    fn convert(f: f64) -> f64 {
        (f - 32.0) / 1.8
    }

    pub fn degrees(&self) -> f64 {
        self.0
    }
}

fn main() {
    let t = Temperature::from_fahrenheit(50.0);
    println!("{} {}", t.degrees(), Temperature::degrees(&Temperature::ZERO));
}
