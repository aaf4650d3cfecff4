struct Draft {
    text: String,
}

struct Review {
    text: String,
}

struct Published {
    text: String,
}

impl Draft {
    fn new(text: &str) -> Draft {
        Draft { text: text.to_string() }
    }

    fn submit(self) -> Review {
        Review { text: self.text }
    }
}

impl Review {
    fn approve(self) -> Published {
        Published { text: self.text }
    }

    fn reject(self) -> Draft {
        Draft { text: self.text }
    }
}

impl Published {
    fn text(&self) -> &str {
        &self.text
    }
}

fn main() {
    let post = Draft::new("hi").submit();
    let post = post.reject();
    let post = post.submit();
    let post = post.approve();
    println!("{}", post.text());
}
