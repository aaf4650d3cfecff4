use std::convert::TryFrom;
use std::str::FromStr;

struct Meters(f64);
struct Feet(f64);

impl From<Feet> for Meters {
    fn from(feet: Feet) -> Self {
        Meters(feet.0 * 0.3)
    }
}

#[derive(Debug)]
struct Port(u16);

impl TryFrom<i64> for Port {
    type Error = String;

    fn try_from(n: i64) -> Result<Self, Self::Error> {
        check(n)?;
        Ok(Port(n as u16))
    }
}

impl FromStr for Port {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let n = text.len() as i64;
        Port::try_from(n)
    }
}

fn check(n: i64) -> Result<(), String> {
    if n < 0 {
        return Err("negative".to_string());
    }
    Ok(())
}

fn main() {
    let a = Meters::from(Feet(3.0));
    let b: Meters = Feet(6.0).into();
    let port: Port = "8080".parse().unwrap();
    println!("{} {} {:?}", a.0, b.0, port);
}
