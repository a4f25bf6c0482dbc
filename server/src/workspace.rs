//! What the files of the workspace contribute to each other: found in folders, kept in step with open documents.

use crate::ide::{self, Analysis, Pieces, Workspace};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How deep below a workspace folder manifests are looked for.
const MAX_DEPTH: usize = 12;
/// How many directory entries a scan looks at.
const MAX_ENTRIES: usize = 50_000;
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
/// hidden folders and folders of dependencies are not entered. `stop` may end the search early.
#[must_use]
pub fn manifests(folder: &Path, stop: &dyn Fn() -> bool) -> Vec<PathBuf> {
    let started = Instant::now();
    let (mut found, mut seen) = (Vec::new(), 0);
    let mut waiting = vec![(folder.to_path_buf(), 0)];
    while let Some((directory, depth)) = waiting.pop() {
        let Ok(entries) = fs::read_dir(&directory) else { continue };
        for entry in entries.flatten() {
            seen += 1;
            if seen > MAX_ENTRIES || started.elapsed() > MAX_TIME || stop() {
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

/// The text of a file; `None` if it cannot be read, is no UTF-8 text or is larger than `max_size` bytes.
#[must_use]
pub fn text_of(path: &Path, max_size: u64) -> Option<String> {
    let small = fs::metadata(path).is_ok_and(|found| found.is_file() && found.len() <= max_size);
    if small { fs::read_to_string(path).ok() } else { None }
}

/// Whether a text may hold objects that resources refer to. Most files of a workspace do not, and one search is all
/// they cost.
#[must_use]
pub fn may_have_objects(text: &str) -> bool {
    text.contains("Secret") || text.contains("ConfigMap")
}

/// Whether a text may hold a resource: all spellings of its kind and groups share these letters.
#[must_use]
pub fn may_have_resources(text: &str) -> bool {
    text.contains("llama") || text.contains("Llama")
}

/// The Secrets and ConfigMaps of a text.
#[must_use]
pub fn objects_of(text: &str) -> Pieces {
    if !may_have_objects(text) {
        return Pieces::default();
    }
    ide::analyse(text.into(), None, &Workspace::new()).objects()
}

/// A text understood on its own; `None` if it has nothing that other files ask for: no object, no resource, no config,
/// and no reference to an object.
#[must_use]
pub fn analysis_of(text: &str) -> Option<Analysis> {
    let words = ["secret", "configMap", "provider_id"];
    let mentions = may_have_objects(text) || may_have_resources(text) || words.iter().any(|word| text.contains(word));
    mentions.then(|| ide::analyse(text.into(), None, &Workspace::new()))
}

fn is_entered(folder: &Path) -> bool {
    folder
        .file_name()
        .and_then(|name| name.to_str())
        .is_some_and(|name| !name.starts_with('.') && !SKIPPED.contains(&name))
}
