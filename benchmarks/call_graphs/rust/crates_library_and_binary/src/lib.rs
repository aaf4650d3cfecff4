pub mod format;

pub fn run(text: &str) -> String {
    format::upper(text)
}
