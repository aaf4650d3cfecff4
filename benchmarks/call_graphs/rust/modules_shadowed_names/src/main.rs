fn size(text: &str) -> usize {
    text.len()
}

fn twice(n: usize) -> usize {
    n * 2
}

fn with_local() -> usize {
    let size = |text: &str| twice(text.len());
    size("ab")
}

fn with_parameter(twice: fn(usize) -> usize) -> usize {
    twice(4)
}

fn thrice(n: usize) -> usize {
    n * 3
}

fn with_inner() -> usize {
    fn twice(n: usize) -> usize {
        n + n
    }
    twice(1)
}

fn main() {
    println!("{} {} {} {}", size("abc"), with_local(), with_parameter(thrice), with_inner());
}
