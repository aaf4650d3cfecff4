type Handler = Box<dyn Fn(&str) -> String>;

fn logging(next: Handler) -> Handler {
    Box::new(move |text| {
        trace(text);
        next(text)
    })
}

fn trace(text: &str) {
    println!("trace {text}");
}

fn hello(name: &str) -> String {
    format!("hello {name}")
}

fn choose(loud: bool) -> fn(&str) -> String {
    if loud {
        shout
    } else {
        hello
    }
}

fn shout(name: &str) -> String {
    name.to_uppercase()
}

fn main() {
    let handler = logging(Box::new(hello));
    println!("{}", handler("ann"));
    let chosen = choose(true);
    println!("{} {}", chosen("bob"), choose(false)("eve"));
}
