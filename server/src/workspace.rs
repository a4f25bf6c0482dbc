//! What the files of the workspace contribute to each other: found in folders, kept in step with open documents.

use crate::ide::{self, Pieces, Workspace};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How deep below a workspace folder manifests are looked for.
const MAX_DEPTH: usize = 12;
/// How many directory entries a scan looks at.
const MAX_ENTRIES: usize = 50_000;
/// Files above this size, in bytes, are not read unless they are opened.
const MAX_FILE_SIZE: u64 = 1 << 20;
/// How long a scan may take.
const MAX_TIME: Duration = Duration::from_secs(5);
/// Folders that hold other people's files or build results.
const SKIPPED: [&str; 5] = ["node_modules", "target", "vendor", "dist", "__pycache__"];

/// Whether a file's name says YAML.
#[must_use]
pub fn is_manifest(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml")
}

/// The YAML files below `folder`, in the order of their names, within the limits of this module. Symbolic links,
/// hidden folders and folders of dependencies are not entered.
#[must_use]
pub fn manifests(folder: &Path) -> Vec<PathBuf> {
    let started = Instant::now();
    let (mut found, mut seen) = (Vec::new(), 0);
    let mut waiting = vec![(folder.to_path_buf(), 0)];
    while let Some((directory, depth)) = waiting.pop() {
        let Ok(entries) = fs::read_dir(&directory) else { continue };
        for entry in entries.flatten() {
            seen += 1;
            if seen > MAX_ENTRIES || started.elapsed() > MAX_TIME {
                found.sort();
                return found;
            }
            let Ok(kind) = entry.file_type() else { continue };
            let path = entry.path();
            if kind.is_dir() && depth < MAX_DEPTH && is_entered(&path) {
                waiting.push((path, depth + 1));
            } else if kind.is_file() && is_manifest(&path) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The objects of the file at `path`; nothing if it cannot be read, is too large or holds none.
#[must_use]
pub fn objects_of(path: &Path) -> Pieces {
    let small = fs::metadata(path).is_ok_and(|found| found.is_file() && found.len() <= MAX_FILE_SIZE);
    let text = if small { fs::read_to_string(path).unwrap_or_default() } else { String::new() };
    // Most files of a workspace hold neither kind, and one search is all they cost.
    if !text.contains("Secret") && !text.contains("ConfigMap") {
        return Pieces::default();
    }
    ide::analyse(text.into(), None, &Workspace::new()).objects()
}

fn is_entered(folder: &Path) -> bool {
    folder
        .file_name()
        .and_then(|name| name.to_str())
        .is_some_and(|name| !name.starts_with('.') && !SKIPPED.contains(&name))
}
