pub fn gravity() -> f64 {
    9.8
}

pub fn fall(gravity: f64, dt: f64) -> f64 {
    gravity * dt
}
