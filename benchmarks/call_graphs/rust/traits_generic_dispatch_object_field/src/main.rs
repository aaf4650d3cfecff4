use std::collections::HashMap;
use std::sync::Arc;

trait Observer {
    fn notify(&self, event: &str);
}

struct Printer;
struct Counter {
    name: String,
}

impl Observer for Printer {
    fn notify(&self, event: &str) {
        println!("{event}");
    }
}

impl Observer for Counter {
    fn notify(&self, event: &str) {
        self.log(event);
    }
}

impl Counter {
    fn log(&self, event: &str) {
        println!("{} {}", self.name, event);
    }
}

#[derive(Default)]
struct Bus {
    observers: Vec<Arc<dyn Observer>>,
    named: HashMap<String, Box<dyn Observer>>,
}

impl Bus {
    fn subscribe(&mut self, observer: Arc<dyn Observer>) {
        self.observers.push(observer);
    }

    fn publish(&self, event: &str) {
        for observer in self.observers.iter() {
            observer.notify(event);
        }
        if let Some(observer) = self.named.get("one") {
            observer.notify(event);
        }
    }
}

fn main() {
    let mut bus = Bus::default();
    bus.subscribe(Arc::new(Printer));
    bus.subscribe(Arc::new(Counter { name: "c".into() }));
    bus.named.insert("one".into(), Box::new(Printer));
    bus.publish("start");
}
