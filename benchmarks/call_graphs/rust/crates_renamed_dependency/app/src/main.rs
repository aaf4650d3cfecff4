fn main() {
    oldlog::info("a");
    newlog::info("b");
}
