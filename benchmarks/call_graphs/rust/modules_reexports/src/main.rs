use reexports::prelude::*;
use reexports::{decode, quote};

fn main() {
    let encoder = JsonEncoder::new();
    let text = encoder.encode("a");
    println!("{} {} {}", decode(&text), quote("b"), wrap("c"));
}
