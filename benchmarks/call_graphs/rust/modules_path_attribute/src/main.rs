#[path = "platform/unix_impl.rs"]
mod platform;

mod config;

fn main() {
    println!("{} {}", platform::name(), config::load());
}
