struct File(String);
struct Socket {
    port: u16,
}

impl File {
    fn open(name: &str) -> Result<File, String> {
        Ok(File(name.into()))
    }

    fn close(self) {
        release(&self.0);
    }
}

impl Socket {
    fn open(port: u16) -> Option<Socket> {
        Some(Socket { port })
    }

    fn close(self) {
        release(&self.port.to_string());
    }
}

fn release(what: &str) {
    println!("released {what}");
}

fn main() -> Result<(), String> {
    let file = File::open("a")?;
    file.close();
    if let Some(socket) = Socket::open(80) {
        socket.close();
    }
    let other = Socket::open(81).unwrap();
    other.close();
    Ok(())
}
