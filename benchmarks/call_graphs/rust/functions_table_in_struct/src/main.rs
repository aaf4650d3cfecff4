use std::collections::HashMap;

struct Route {
    path: &'static str,
    handler: fn(&str) -> String,
}

fn home(path: &str) -> String {
    format!("home {path}")
}

fn about(path: &str) -> String {
    format!("about {path}")
}

fn missing(path: &str) -> String {
    format!("missing {path}")
}

const ROUTES: [Route; 2] = [Route { path: "/", handler: home }, Route { path: "/about", handler: about }];

struct Router {
    fallback: Box<dyn Fn(&str) -> String>,
    extra: HashMap<String, fn(&str) -> String>,
}

impl Router {
    fn serve(&self, path: &str) -> String {
        for route in ROUTES.iter() {
            if route.path == path {
                return (route.handler)(path);
            }
        }
        match self.extra.get(path) {
            Some(handler) => handler(path),
            None => (self.fallback)(path),
        }
    }
}

fn main() {
    let mut router = Router { fallback: Box::new(missing), extra: HashMap::new() };
    router.extra.insert("/x".to_string(), home);
    println!("{} {}", router.serve("/"), router.serve("/about"));
    println!("{} {}", router.serve("/x"), router.serve("/y"));
}
