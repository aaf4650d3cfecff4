use std::cell::RefCell;
use std::ops::Deref;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

struct Inner {
    hits: u32,
}

impl Inner {
    fn hit(&mut self) {
        self.hits += 1;
    }

    fn total(&self) -> u32 {
        self.hits
    }
}

struct Guard {
    inner: Inner,
}

impl Deref for Guard {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.inner
    }
}

fn main() {
    let shared = Arc::new(Mutex::new(Inner { hits: 0 }));
    shared.lock().unwrap().hit();
    let copy = Arc::clone(&shared);
    let mut locked = copy.lock().unwrap();
    locked.hit();
    let cell = Rc::new(RefCell::new(Inner { hits: 5 }));
    cell.borrow_mut().hit();
    let boxed: Box<Inner> = Box::new(Inner { hits: 7 });
    println!("{} {} {}", locked.total(), cell.borrow().total(), boxed.total());
    let guard = Guard { inner: Inner { hits: 1 } };
    println!("{} {}", guard.total(), (*guard).hits);
}
