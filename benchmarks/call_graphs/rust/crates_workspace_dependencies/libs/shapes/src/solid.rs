pub fn volume(a: u32, b: u32, c: u32) -> u32 {
    crate::area(a, b) * c
}
