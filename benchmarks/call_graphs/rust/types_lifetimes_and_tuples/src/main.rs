struct Source {
    text: String,
}

impl Source {
    fn cursor(&self) -> Cursor<'_> {
        Cursor { source: self, at: 0 }
    }

    fn slice(&self, at: usize) -> &str {
        &self.text[at..]
    }
}

struct Cursor<'a> {
    source: &'a Source,
    at: usize,
}

impl<'a> Cursor<'a> {
    fn rest(&self) -> &'a str {
        self.source.slice(self.at)
    }

    fn forward(mut self, by: usize) -> (Cursor<'a>, usize) {
        self.at += by;
        (self, by)
    }
}

fn both() -> (Source, u32) {
    (Source { text: "abc".to_string() }, 1)
}

fn main() {
    let (source, _) = both();
    let cursor = source.cursor();
    let (cursor, moved) = cursor.forward(1);
    println!("{} {}", cursor.rest(), moved);
    println!("{}", both().0.slice(2));
}
