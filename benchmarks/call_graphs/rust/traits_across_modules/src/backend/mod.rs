pub mod file;

pub trait Backend {
    fn load(&self, key: &str) -> String;
    fn exists(&self, key: &str) -> bool {
        !self.load(key).is_empty()
    }
}
