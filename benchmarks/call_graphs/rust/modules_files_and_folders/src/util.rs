pub fn trim(text: &str) -> String {
    text.trim().to_string()
}
