fn main() {
    println!("{}", text_tool::run("demo"));
}
