pub mod json {
    pub struct Encoder;

    impl Encoder {
        pub fn new() -> Self {
            Encoder
        }

        pub fn encode(&self, text: &str) -> String {
            super::quote(text)
        }
    }

    pub fn decode(text: &str) -> String {
        text.replace('"', "")
    }
}

pub fn quote(text: &str) -> String {
    format!("\"{text}\"")
}
