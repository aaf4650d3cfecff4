use geo::area;

fn main() {
    println!("{} {}", area(2, 3), geo::solid::volume(1, 2, 3));
}
