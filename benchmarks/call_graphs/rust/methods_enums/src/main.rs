#[derive(Clone, Copy)]
enum Level {
    Low,
    High,
}

impl Level {
    fn weight(self) -> u32 {
        match self {
            Level::Low => 1,
            Level::High => Self::maximum(),
        }
    }

    fn maximum() -> u32 {
        9
    }

    fn parse(text: &str) -> Option<Level> {
        match text {
            "low" => Some(Level::Low),
            "high" => Some(Level::High),
            _ => None,
        }
    }
}

enum Message {
    Move { by: Step },
    Quit(Goodbye),
}

struct Step(u32);
struct Goodbye;

impl Step {
    fn run(&self) -> u32 {
        self.0
    }
}

impl Goodbye {
    fn run(&self) -> u32 {
        0
    }
}

fn handle(message: &Message) -> u32 {
    match message {
        Message::Move { by } => by.run(),
        Message::Quit(last) => last.run(),
    }
}

fn main() {
    println!("{}", Level::parse("high").unwrap().weight() + Level::Low.weight());
    println!("{}", handle(&Message::Move { by: Step(2) }) + handle(&Message::Quit(Goodbye)));
}
