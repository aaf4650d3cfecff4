mod entry;
pub mod stats;

pub use entry::Entry;

pub struct Store {
    entries: Vec<Entry>,
}

impl Store {
    pub fn open(_path: &str) -> Store {
        Store { entries: Vec::new() }
    }

    pub fn insert(&mut self, entry: Entry) {
        self.entries.push(entry);
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }
}
