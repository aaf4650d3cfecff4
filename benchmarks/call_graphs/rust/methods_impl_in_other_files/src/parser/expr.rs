use super::Parser;

impl Parser {
    pub(super) fn expression(&mut self) -> i64 {
        let mut sum = self.number();
        while self.peek() == Some('+') {
            self.advance();
            sum += self.number();
        }
        sum
    }

    fn number(&mut self) -> i64 {
        let digit = self.peek().and_then(|c| c.to_digit(10)).unwrap_or(0);
        self.advance();
        digit as i64
    }
}
