trait Animal {
    fn speak(&self) -> String;
}

struct Dog;
struct Cat {
    name: String,
}

impl Animal for Dog {
    fn speak(&self) -> String {
        "woof".to_string()
    }
}

impl Animal for Cat {
    fn speak(&self) -> String {
        self.purr()
    }
}

impl Cat {
    fn purr(&self) -> String {
        format!("{} purrs", self.name)
    }
}

struct Robot;

impl Robot {
    fn speak(&self) -> String {
        "beep".to_string()
    }
}

fn all(animals: &[Box<dyn Animal>]) {
    for animal in animals {
        println!("{}", animal.speak());
    }
}

fn one(animal: &dyn Animal) -> String {
    animal.speak()
}

fn main() {
    all(&[Box::new(Dog), Box::new(Cat { name: "tom".into() })]);
    println!("{} {}", one(&Dog), Robot.speak());
}
