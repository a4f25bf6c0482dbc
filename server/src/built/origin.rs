//! Where builders say that a document came from.

use std::path::{Component, Path, PathBuf};

/// The file in kustomize's annotation of a document, which names it as seen from the folder that was built. `None` for
/// what a generator made.
pub(super) fn kustomize(document: &str, root: &Path) -> Option<PathBuf> {
    let (_, behind) = document.split_once("config.kubernetes.io/origin: |")?;
    let line = behind.lines().nth(1)?.trim();
    let path = line.strip_prefix("path: ")?.trim_matches(['"', '\'']);
    Some(plain(&root.join(path)))
}

/// The template in helm's comment above a document, which begins with the name of the chart.
pub(super) fn helm(document: &str, chart: &Path) -> Option<PathBuf> {
    let (_, behind) = document.split_once("# Source: ")?;
    let (_, path) = behind.lines().next()?.trim().split_once('/')?;
    Some(plain(&chart.join(path)))
}

/// A path without `.` and `..`.
pub(super) fn plain(path: &Path) -> PathBuf {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let mut plain = PathBuf::new();
    for part in whole.components() {
        match part {
            Component::ParentDir => _ = plain.pop(),
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}
