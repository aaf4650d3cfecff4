mod parser;

fn main() {
    let mut parser = parser::Parser::new("1+2");
    println!("{}", parser.parse());
}
