use text_tool::format::upper;

fn main() {
    println!("{}", text_tool::run("a"));
    println!("{}", upper("b"));
}
