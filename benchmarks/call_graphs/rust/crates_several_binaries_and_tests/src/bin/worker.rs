use jobs::Queue;

fn start(queue: &mut Queue) {
    queue.push(2);
}

fn main() {
    let mut queue = Queue::new();
    start(&mut queue);
}
