//! `llsd-operator`: the process.

fn main() {}
