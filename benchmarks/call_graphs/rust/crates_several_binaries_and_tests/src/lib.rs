pub struct Queue {
    jobs: Vec<u32>,
}

impl Queue {
    pub fn new() -> Self {
        Queue { jobs: vec![] }
    }

    pub fn push(&mut self, job: u32) {
        self.jobs.push(job);
    }

    pub fn len(&self) -> usize {
        self.jobs.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_kept() {
        let mut queue = Queue::new();
        queue.push(1);
        assert_eq!(queue.len(), 1);
    }
}
