//! The program `stoa`.
fn main() {}
