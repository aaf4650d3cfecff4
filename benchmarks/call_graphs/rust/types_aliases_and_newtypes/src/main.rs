mod engine {
    pub struct Engine {
        pub speed: u32,
    }

    impl Engine {
        pub fn start(&self) -> u32 {
            self.speed
        }
    }

    pub type Result<T> = std::result::Result<T, String>;

    pub fn build() -> Result<Engine> {
        Ok(Engine { speed: 1 })
    }
}

type Motor = engine::Engine;

struct Turbo(Motor);

impl Turbo {
    fn start(&self) -> u32 {
        self.0.start() * 2
    }
}

fn warm(motor: &Motor) -> u32 {
    motor.start()
}

fn main() -> engine::Result<()> {
    let motor = engine::build()?;
    println!("{}", warm(&motor));
    let turbo = Turbo(motor);
    println!("{}", turbo.start());
    Ok(())
}
