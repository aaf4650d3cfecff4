pub struct Entry(String);

impl Entry {
    pub fn new(name: &str) -> Self {
        Entry(name.to_string())
    }
}
