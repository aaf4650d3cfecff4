use engine::World;

fn main() {
    let world = World::new();
    println!("{}", world.step(0.1));
}
