use crate::Store;

pub fn count(store: &Store) -> usize {
    store.len()
}
