fn gcd(a: u64, b: u64) -> u64 {
    fn step(a: u64, b: u64) -> u64 {
        if b == 0 {
            a
        } else {
            step(b, a % b)
        }
    }
    step(a, b)
}

fn is_even(n: u32) -> bool {
    n == 0 || is_odd(n - 1)
}

fn is_odd(n: u32) -> bool {
    n != 0 && is_even(n - 1)
}

fn main() {
    struct Local(u64);
    impl Local {
        fn get(&self) -> u64 {
            self.0
        }
    }
    let local = Local(gcd(12, 18));
    println!("{} {}", local.get(), is_even(3));
}
