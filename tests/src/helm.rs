//! The helm of the tests.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The folder with `helm`, built first if need be from the version that `tests/helm/go.mod` names.
///
/// # Panics
///
/// If it cannot be built.
#[must_use]
pub fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("helm/build.sh");
        let output = Command::new(script).output().expect("build.sh runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().into()
    })
}
