trait Plugin {
    type Output;
    fn create() -> Self;
    fn run(&self) -> Self::Output;
}

struct Counter(u32);

impl Counter {
    fn value(&self) -> u32 {
        self.0
    }
}

struct Counting;

impl Plugin for Counting {
    type Output = Counter;

    fn create() -> Self {
        Counting
    }

    fn run(&self) -> Counter {
        Counter(3)
    }
}

fn launch<P: Plugin>() -> P::Output {
    let plugin = P::create();
    plugin.run()
}

fn main() {
    let counter = launch::<Counting>();
    println!("{}", counter.value());
}
