use store_core::{Entry, Store};

fn main() {
    let mut store = Store::open("path");
    store.insert(Entry::new("a"));
    println!("{}", store_core::stats::count(&store));
}
