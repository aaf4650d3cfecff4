trait Pilot {
    fn fly(&self) -> String;
    fn rank() -> String;
}

trait Wizard {
    fn fly(&self) -> String;
}

struct Human;

impl Pilot for Human {
    fn fly(&self) -> String {
        "captain".into()
    }

    fn rank() -> String {
        "first".into()
    }
}

impl Wizard for Human {
    fn fly(&self) -> String {
        "up".into()
    }
}

impl Human {
    fn fly(&self) -> String {
        "waving".into()
    }
}

fn main() {
    let person = Human;
    println!("{}", person.fly());
    println!("{} {}", Pilot::fly(&person), Wizard::fly(&person));
    println!("{} {}", <Human as Pilot>::rank(), <Human as Wizard>::fly(&person));
    println!("{}", Human::fly(&person));
}
