//! What the files of the workspace contribute to each other: found in folders, kept in step with open documents.

mod hosts;
mod read;
mod walk;

pub use hosts::Host;
pub use read::{MAX_SIZE, is_within, key, text_of, with_slashes};
pub use walk::{Ignored, LeftOut, Limits, Reason, Walk, walk};

use crate::ide::{self, Analysis, Pieces, Workspace};
use llsd_generator::chart;
use llsd_generator::kustomize::FILE_NAMES;
use std::path::{Path, PathBuf};

/// Names of files that say what becomes of the others.
const BUILD_FILES: [&str; 4] = [FILE_NAMES[0], FILE_NAMES[1], FILE_NAMES[2], "Chart.yaml"];

/// Whether a file's name says YAML.
#[must_use]
pub fn is_manifest(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml")
        || is_part(path, "Kustomization")
}

/// Whether a file says what becomes of the others in its folder: a kustomization, or the head of a Helm chart.
#[must_use]
pub fn is_build_file(path: &Path) -> bool {
    BUILD_FILES.iter().any(|name| is_part(path, name))
}

/// The files in `folder` that say what becomes of the others.
pub fn build_files_in(folder: &Path) -> impl Iterator<Item = PathBuf> {
    BUILD_FILES.map(|name| folder.join(name)).into_iter().filter(|path| path.is_file())
}

/// The kustomizations below `folder`, within the limits of an editor.
#[must_use]
pub fn kustomizations(folder: &Path) -> Vec<PathBuf> {
    let mut found = walk(folder, &Limits::editor(vec![folder.to_path_buf()]), &|| false).files;
    found.retain(|path| is_build_file(path));
    found
}

/// The templates of the Helm chart around a file that is none itself, within the limits of an editor: they say what becomes
/// of its values and files.
#[must_use]
pub fn templates_for(file: &Path) -> Vec<PathBuf> {
    let whole = std::path::absolute(file).unwrap_or_else(|_| file.to_path_buf());
    let Some(found) = whole.ancestors().skip(1).take(chart::ABOVE).find(|above| above.join("Chart.yaml").is_file())
    else {
        return Vec::new();
    };
    let folder = found.join("templates");
    if whole.starts_with(&folder) || !folder.is_dir() {
        return Vec::new();
    }
    walk(&folder, &Limits::editor(vec![found.to_path_buf()]), &|| false).files
}

/// What kustomize reads for a path: the file itself, or the kustomization of a folder.
#[must_use]
pub fn behind(path: &Path) -> Vec<PathBuf> {
    if path.is_dir() {
        return build_files_in(path).filter(|found| !is_part(found, "Chart.yaml")).take(1).collect();
    }
    if path.is_file() { vec![path.to_path_buf()] } else { Vec::new() }
}

fn is_part(path: &Path, name: &str) -> bool {
    path.file_name().is_some_and(|last| last == name)
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
    let mentions = named || is_build_file(path);
    mentions.then(|| ide::analyse(text.into(), None, &Workspace::new()))
}
