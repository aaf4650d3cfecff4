pub fn info(message: &str) {
    write(message);
}

fn write(message: &str) {
    println!("v2 {message}");
}
