use crate::parser::Parser;

impl Parser {
    pub(crate) fn peek(&self) -> Option<char> {
        self.text[self.pos..].chars().next()
    }

    pub(crate) fn advance(&mut self) {
        self.pos += 1;
    }
}
