pub fn name() -> String {
    suffix("windows")
}

fn suffix(text: &str) -> String {
    format!("{text}?")
}
