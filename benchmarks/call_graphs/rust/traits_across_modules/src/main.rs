mod backend;
mod service;

use backend::file::FileBackend;
use service::Service;

fn main() {
    let service = Service::new(Box::new(FileBackend::at("/tmp")));
    println!("{}", service.read("x"));
}
