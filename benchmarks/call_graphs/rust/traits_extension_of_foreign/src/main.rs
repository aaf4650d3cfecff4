mod ext;

use ext::StrExt;

fn main() {
    let title = "ann".capitalized();
    println!("{} {}", title, title.as_str().vowels());
    println!("{}", 7u32.is_odd());
}

trait Parity {
    fn is_odd(&self) -> bool;
}

impl Parity for u32 {
    fn is_odd(&self) -> bool {
        self % 2 == 1
    }
}
