use std::fmt;

#[derive(Debug)]
struct ParseError(String);

#[derive(Debug)]
enum AppError {
    Parse(ParseError),
}

impl From<ParseError> for AppError {
    fn from(error: ParseError) -> Self {
        AppError::Parse(error)
    }
}

impl fmt::Display for AppError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.reason())
    }
}

impl AppError {
    fn reason(&self) -> &str {
        match self {
            AppError::Parse(error) => error.text(),
        }
    }
}

impl ParseError {
    fn text(&self) -> &str {
        &self.0
    }
}

fn parse(text: &str) -> Result<u32, ParseError> {
    text.parse().map_err(|_| ParseError(text.to_string()))
}

fn load(text: &str) -> Result<u32, AppError> {
    let n = parse(text)?;
    Ok(n)
}

fn main() {
    match load("x") {
        Ok(n) => println!("{n}"),
        Err(error) => println!("{error} {}", error.reason()),
    }
    println!("{:?}", load("1").is_ok());
}
