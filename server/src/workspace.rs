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
/// Names of files that say what becomes of the others.
const TELLING: [&str; 4] = ["kustomization.yaml", "kustomization.yml", "Kustomization", "Chart.yaml"];
/// Folders that hold other people's files or build results.
const SKIPPED: [&str; 5] = ["node_modules", "target", "vendor", "dist", "__pycache__"];

/// Whether a file's name says YAML.
#[must_use]
pub fn is_manifest(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml")
        || is_part(path, "Kustomization")
}

/// Whether a file says what becomes of the others in its folder: a kustomization, or the head of a Helm chart.
#[must_use]
pub fn tells_what_is_applied(path: &Path) -> bool {
    TELLING.iter().any(|name| is_part(path, name))
}

/// The files beside `file`, or in a folder above it, that say what becomes of it.
#[must_use]
pub fn telling(file: &Path) -> Vec<PathBuf> {
    let folders = file.ancestors().skip(1).take(MAX_DEPTH);
    folders.flat_map(|folder| TELLING.map(|name| folder.join(name))).filter(|path| path.is_file()).collect()
}

fn is_part(path: &Path, name: &str) -> bool {
    path.file_name().is_some_and(|last| last == name)
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
/// no reference to an object, and nothing about what is applied.
#[must_use]
pub fn analysis_of(path: &Path, text: &str) -> Option<Analysis> {
    let words = ["secret", "configMap", "provider_id"];
    let named = may_have_objects(text) || may_have_resources(text) || words.iter().any(|word| text.contains(word));
    let mentions = named || tells_what_is_applied(path);
    mentions.then(|| ide::analyse(text.into(), None, &Workspace::new()))
}

fn is_entered(folder: &Path) -> bool {
    folder
        .file_name()
        .and_then(|name| name.to_str())
        .is_some_and(|name| !name.starts_with('.') && !SKIPPED.contains(&name))
}
