//! Writes the CRD to `operator/deploy/crd/`, or to the file that the first argument names.

use std::path::PathBuf;

fn main() -> std::io::Result<()> {
    let target = std::env::args_os().nth(1).map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../operator/deploy/crd/llamastackdistributions.yaml")),
        PathBuf::from,
    );
    if let Some(folder) = target.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(target, llsd_generator::api::crd::crd_yaml())
}
