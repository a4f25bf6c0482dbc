//! Writes the CRD that the types say: to `generator/src/api/crd.json`, which the library embeds, and to
//! `operator/deploy/crd/`; or its YAML alone to the file that the first argument names.

use llsd_generator::api::crd;
use std::fs;
use std::path::{Path, PathBuf};

fn main() -> std::io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let definition = crd::derived();
    let target = match std::env::args_os().nth(1) {
        Some(target) => PathBuf::from(target),
        None => {
            fs::write(folder.join("src/api/crd.json"), format!("{definition}\n"))?;
            folder.join("../operator/deploy/crd/llamastackdistributions.yaml")
        }
    };
    if let Some(folder) = target.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(target, crd::to_yaml(&definition))
}
