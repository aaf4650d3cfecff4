trait Store {
    fn get(&self, key: &str) -> Option<String>;
    fn put(&mut self, key: &str, value: &str);
}

#[derive(Default)]
struct Memory {
    items: Vec<(String, String)>,
}

impl Store for Memory {
    fn get(&self, key: &str) -> Option<String> {
        self.items.iter().find(|(k, _)| k == key).map(|(_, v)| v.clone())
    }

    fn put(&mut self, key: &str, value: &str) {
        self.items.push((key.to_string(), value.to_string()));
    }
}

struct Cache<S> {
    inner: S,
    hits: u32,
}

impl<S: Store> Cache<S> {
    fn new(inner: S) -> Self {
        Cache { inner, hits: 0 }
    }

    fn lookup(&mut self, key: &str) -> Option<String> {
        self.hits += 1;
        self.inner.get(key)
    }
}

fn fill<S>(store: &mut S)
where
    S: Store,
{
    store.put("a", "1");
}

fn show(store: &impl Store) {
    println!("{:?}", store.get("a"));
}

fn main() {
    let mut memory = Memory::default();
    fill(&mut memory);
    show(&memory);
    let mut cache = Cache::new(memory);
    println!("{:?}", cache.lookup("a"));
}
