mod net;
mod util;

fn main() {
    net::connect("a");
    net::http::get("b");
    util::trim(" c ");
}
