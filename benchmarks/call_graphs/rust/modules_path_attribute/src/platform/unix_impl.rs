pub fn name() -> String {
    suffix("unix")
}

fn suffix(text: &str) -> String {
    format!("{text}!")
}
