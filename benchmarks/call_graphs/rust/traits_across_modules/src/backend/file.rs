use super::Backend;

pub struct FileBackend {
    root: String,
}

impl FileBackend {
    pub fn at(root: &str) -> Self {
        FileBackend { root: root.to_string() }
    }

    fn path(&self, key: &str) -> String {
        format!("{}/{}", self.root, key)
    }
}

impl Backend for FileBackend {
    fn load(&self, key: &str) -> String {
        self.path(key)
    }
}
