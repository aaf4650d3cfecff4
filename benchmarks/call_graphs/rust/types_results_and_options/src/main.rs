use std::collections::HashMap;

struct User {
    name: String,
}

impl User {
    fn greet(&self) -> String {
        format!("hi {}", self.name)
    }
}

#[derive(Default)]
struct Directory {
    users: HashMap<u32, User>,
    latest: Option<Box<User>>,
}

impl Directory {
    fn find(&self, id: u32) -> Option<&User> {
        self.users.get(&id)
    }

    fn require(&self, id: u32) -> Result<&User, String> {
        self.find(id).ok_or_else(|| missing(id))
    }

    fn add(&mut self, id: u32, user: User) {
        self.users.insert(id, user);
    }
}

fn missing(id: u32) -> String {
    format!("no user {id}")
}

fn main() -> Result<(), String> {
    let mut directory = Directory::default();
    directory.add(1, User { name: "ann".into() });
    directory.latest = Some(Box::new(User { name: "bob".into() }));
    println!("{}", directory.require(1)?.greet());
    let user = directory.find(1).or(None).unwrap();
    println!("{}", user.greet());
    if let Some(latest) = &directory.latest {
        println!("{}", latest.greet());
    }
    match directory.require(2) {
        Ok(user) => println!("{}", user.greet()),
        Err(text) => println!("{text}"),
    }
    for user in directory.users.values() {
        println!("{}", user.greet());
    }
    println!("{}", directory.users[&1].greet());
    Ok(())
}
