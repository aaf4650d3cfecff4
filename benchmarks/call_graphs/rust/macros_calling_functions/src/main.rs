mod log {
    pub fn write(level: &str, text: &str) {
        println!("{level} {text}");
    }
}

macro_rules! info {
    ($($arg:tt)*) => {
        crate::log::write("info", &format!($($arg)*))
    };
}

macro_rules! square {
    ($x:expr) => {
        multiply($x, $x)
    };
}

fn multiply(a: u32, b: u32) -> u32 {
    a * b
}

fn three() -> u32 {
    3
}

fn main() {
    info!("value {}", square!(three()));
    let list = vec![three(), multiply(2, 2)];
    assert_eq!(list.len(), 2, "length {}", three());
}
