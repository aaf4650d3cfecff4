struct Countdown {
    left: u32,
}

impl Countdown {
    fn from(n: u32) -> Self {
        Countdown { left: n }
    }

    fn exhausted(&self) -> bool {
        self.left == 0
    }
}

impl Iterator for Countdown {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        if self.exhausted() {
            return None;
        }
        self.left -= 1;
        Some(self.left)
    }
}

struct Book {
    pages: Vec<Page>,
}

struct Page(u32);

impl Page {
    fn number(&self) -> u32 {
        self.0
    }
}

impl Book {
    fn pages(&self) -> impl Iterator<Item = &Page> {
        self.pages.iter()
    }
}

fn main() {
    for n in Countdown::from(2) {
        println!("{n}");
    }
    let mut own = Countdown::from(1);
    println!("{:?}", own.next());
    let book = Book { pages: vec![Page(1), Page(2)] };
    for page in &book.pages {
        println!("{}", page.number());
    }
    for page in book.pages() {
        println!("{}", page.number());
    }
    let sum: u32 = book.pages.iter().map(|page| page.number()).sum();
    println!("{} {:?}", sum, book.pages.first().map(|p| p.number()));
}
