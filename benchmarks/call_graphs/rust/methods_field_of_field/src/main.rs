#[derive(Default)]
struct Logger {
    lines: Vec<String>,
}

impl Logger {
    fn info(&mut self, msg: &str) {
        self.lines.push(msg.to_string());
    }
}

#[derive(Default)]
struct Metrics {
    count: u32,
}

impl Metrics {
    fn info(&self) -> u32 {
        self.count
    }
}

#[derive(Default)]
struct Context {
    log: Logger,
    metrics: Option<Metrics>,
}

struct Server {
    context: Context,
}

impl Server {
    fn start(&mut self) {
        self.context.log.info("start");
        let log = &mut self.context.log;
        log.info("again");
    }
}

fn main() {
    let mut server = Server { context: Context { log: Logger::default(), metrics: Some(Metrics::default()) } };
    server.start();
    let metrics = server.context.metrics.as_ref().unwrap();
    println!("{}", metrics.info());
}
