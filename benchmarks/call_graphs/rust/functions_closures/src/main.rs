fn step(n: i32) -> i32 {
    n + 1
}

fn show(n: i32) {
    println!("{n}");
}

fn apply<F: Fn(i32) -> i32>(f: F, n: i32) -> i32 {
    f(n)
}

fn each(items: &[i32], mut visit: impl FnMut(i32)) {
    for item in items {
        visit(*item);
    }
}

fn counter() -> impl FnMut() -> i32 {
    let mut n = 0;
    move || {
        n = step(n);
        n
    }
}

fn main() {
    let mut next = counter();
    next();
    println!("{} {}", apply(step, 1), apply(|n| step(n) * 2, 2));
    each(&[1, 2], show);
    let add = |n| step(n);
    println!("{}", add(4));
    println!("{:?}", Some(3).map(step));
}
