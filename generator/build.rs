//! Rebuilds the crate when a file appears in or leaves `configs/`, which the crate embeds.

fn main() {
    println!("cargo:rerun-if-changed=../configs");
}
