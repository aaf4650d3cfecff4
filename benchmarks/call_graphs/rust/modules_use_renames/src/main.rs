mod metric {
    pub fn length(n: u32) -> u32 {
        n * 10
    }
    pub struct Unit;
    impl Unit {
        pub fn name() -> &'static str {
            "m"
        }
    }
}

mod imperial {
    pub fn length(n: u32) -> u32 {
        n * 12
    }
    pub struct Unit;
    impl Unit {
        pub fn name() -> &'static str {
            "ft"
        }
    }
}

use imperial::{self as old, length as feet, Unit as Foot};
use metric::{length, Unit};

fn main() {
    println!("{} {} {}", length(1), feet(1), old::length(2));
    println!("{} {} {}", Unit::name(), Foot::name(), old::Unit::name());
}
