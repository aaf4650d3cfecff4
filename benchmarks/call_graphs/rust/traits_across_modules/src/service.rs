use crate::backend::Backend;

pub struct Service {
    backend: Box<dyn Backend>,
}

impl Service {
    pub fn new(backend: Box<dyn Backend>) -> Self {
        Service { backend }
    }

    pub fn read(&self, key: &str) -> String {
        if self.backend.exists(key) {
            return self.backend.load(key);
        }
        String::new()
    }
}
