//! llsd
fn main() {}
