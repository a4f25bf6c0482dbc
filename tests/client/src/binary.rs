//! The binary under test: built by cargo, or named by an environment variable.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The `llsd` that belongs to these tests, built first if need be. `LLSD_BIN` names another one.
///
/// # Panics
///
/// If it cannot be built.
#[must_use]
pub fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| match std::env::var_os("LLSD_BIN") {
        Some(path) => path.into(),
        // Set by cargo for the tests of the binary's own package.
        None => std::env::var_os("CARGO_BIN_EXE_llsd").map_or_else(|| build("llsd", "llsd"), PathBuf::from),
    })
}

/// A command that runs it.
#[must_use]
pub fn llsd() -> Command {
    Command::new(binary())
}

/// Builds a binary of the workspace. Cargo tells where it puts it, whatever the target folder and profile are.
///
/// # Panics
///
/// If it does not build.
#[must_use]
pub fn build(package: &str, name: &str) -> PathBuf {
    let mut command = Command::new(env!("CARGO"));
    command.args(["build", "--quiet", "--package", package, "--bin", name, "--message-format", "json"]);
    if !cfg!(debug_assertions) {
        command.arg("--release");
    }
    let output = command.current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("cargo runs");
    assert!(output.status.success(), "{name} does not build:\n{}", String::from_utf8_lossy(&output.stderr));
    let messages = String::from_utf8_lossy(&output.stdout);
    messages
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .find_map(|message| message["executable"].as_str().map(PathBuf::from))
        .expect("cargo names the executable")
}
