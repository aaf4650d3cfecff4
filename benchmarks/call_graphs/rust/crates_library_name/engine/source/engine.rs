mod physics;

pub struct World {
    gravity: f64,
}

impl World {
    pub fn new() -> Self {
        World { gravity: physics::gravity() }
    }

    pub fn step(&self, dt: f64) -> f64 {
        physics::fall(self.gravity, dt)
    }
}
