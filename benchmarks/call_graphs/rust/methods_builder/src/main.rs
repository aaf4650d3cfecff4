mod request;

use request::Request;

fn main() {
    let request = Request::builder("https://example.com")
        .header("accept", "*/*")
        .retries(3)
        .build()
        .expect("a request");
    println!("{}", request.send());
}
