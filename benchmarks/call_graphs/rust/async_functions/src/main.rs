mod runtime;

struct Client {
    host: String,
}

impl Client {
    async fn connect(host: &str) -> Result<Client, String> {
        resolve(host).await?;
        Ok(Client { host: host.to_string() })
    }

    async fn get(&self, path: &str) -> String {
        format!("{}{}", self.host, path)
    }
}

async fn resolve(host: &str) -> Result<(), String> {
    if host.is_empty() {
        return Err("empty".into());
    }
    Ok(())
}

async fn run() -> String {
    let client = Client::connect("host").await.unwrap();
    client.get("/a").await
}

fn main() {
    println!("{}", runtime::block_on(run()));
}
