mod stack;

use stack::Stack;

struct Job {
    name: &'static str,
}

impl Job {
    fn run(&self) {
        println!("{}", self.name);
    }
}

fn main() {
    let mut jobs: Stack<Job> = Stack::new();
    jobs.push(Job { name: "a" });
    if let Some(job) = jobs.peek() {
        job.run();
    }
    while let Some(job) = jobs.pop() {
        job.run();
    }
}
