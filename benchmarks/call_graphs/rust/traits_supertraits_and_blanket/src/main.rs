trait Named {
    fn name(&self) -> String;
}

trait Greeter: Named {
    fn greet(&self) -> String {
        format!("hello {}", self.name())
    }
}

trait Shout {
    fn shout(&self) -> String;
}

impl<T: Named> Shout for T {
    fn shout(&self) -> String {
        self.name().to_uppercase()
    }
}

struct User(String);

impl Named for User {
    fn name(&self) -> String {
        self.0.clone()
    }
}

impl Greeter for User {}

fn main() {
    let user = User("ann".into());
    println!("{} {}", user.greet(), user.shout());
}
