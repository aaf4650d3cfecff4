mod expr;
mod lexer;

pub struct Parser {
    text: String,
    pos: usize,
}

impl Parser {
    pub fn new(text: &str) -> Self {
        Parser { text: text.to_string(), pos: 0 }
    }

    pub fn parse(&mut self) -> i64 {
        self.expression()
    }
}
