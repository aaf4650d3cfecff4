use jobs::Queue;

pub fn filled(n: u32) -> Queue {
    let mut queue = Queue::new();
    for job in 0..n {
        queue.push(job);
    }
    queue
}
