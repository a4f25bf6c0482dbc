//! What is installed, made by the scripts of `release/` and used as its users would.

mod action;
mod archive;
mod image;
mod label;
mod packages;

use llsd_tests::llsd;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// A file of this repository.
fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

/// A folder that goes away with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("llsd-release-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The only platform that these tests run on.
const TARGET: &str = "x86_64-unknown-linux-musl";

/// Puts the archive of the program under test, made once, and its checksum into a folder, and returns its path.
fn archive(folder: &Folder) -> String {
    static MADE: OnceLock<PathBuf> = OnceLock::new();
    let made = MADE.get_or_init(|| {
        // Among what cargo builds, since nothing removes it at the end.
        let made = Path::new(env!("CARGO_TARGET_TMPDIR")).join("archive");
        make_archive(&made);
        made
    });
    let name = format!("llsd-{}-{TARGET}.tar.gz", env!("CARGO_PKG_VERSION"));
    for file in [name.clone(), format!("{name}.sha256")] {
        fs::copy(made.join(&file), folder.0.join(file)).unwrap();
    }
    folder.0.join(name).display().to_string()
}

/// Makes an archive of the program under test in a folder, and returns its path.
fn make_archive(folder: &Path) -> String {
    let script = repository("release/archive.sh");
    let made = Command::new(script).arg(TARGET).arg(llsd::binary()).arg(folder).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    String::from_utf8(made.stdout).unwrap().trim().to_owned()
}
