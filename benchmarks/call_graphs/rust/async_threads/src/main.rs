use std::sync::mpsc;
use std::sync::{Arc, RwLock};
use std::thread;

struct Task(u32);

impl Task {
    fn run(self) -> u32 {
        work(self.0)
    }
}

#[derive(Default)]
struct State {
    done: u32,
}

impl State {
    fn finish(&mut self, n: u32) {
        self.done += n;
    }

    fn report(&self) -> u32 {
        self.done
    }
}

fn work(n: u32) -> u32 {
    n * 2
}

fn main() {
    let state = Arc::new(RwLock::new(State::default()));
    let (sender, receiver) = mpsc::channel::<Task>();
    let shared = Arc::clone(&state);
    let handle = thread::spawn(move || {
        for task in receiver {
            let n = task.run();
            shared.write().unwrap().finish(n);
        }
    });
    sender.send(Task(3)).unwrap();
    drop(sender);
    handle.join().unwrap();
    println!("{}", state.read().unwrap().report());
}
