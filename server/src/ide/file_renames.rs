//! Kustomizations follow the files that they list: what changes in them when a file or folder gets another name.

use super::file_names::{folder_of, relative, way};
use super::names::WorkspaceFiles;
use super::rename::FileEdits;
use super::types::TextEdit;
use super::{Analysis, Workspace};
use llsd_yaml::edit;
use std::sync::Arc;

/// Kustomizations that are looked through at most: the client waits for the answer before it renames.
const LOOKED_AT: usize = 500;

/// The edits of kustomizations that name the file or folder `old`, which is to be called `new`. Both are written as names
/// of files are. A kustomization that moves itself keeps its paths.
#[must_use]
pub fn moved(workspace: &Workspace, library: &dyn WorkspaceFiles, old: &str, new: &str) -> Vec<FileEdits> {
    let (old, new) = (old.trim_end_matches('/'), new.trim_end_matches('/'));
    let all = workspace.kustomizations().filter(|file| !is_within(file, old)).take(LOOKED_AT);
    let edited = |file: &Arc<str>| {
        let analysis = library.analysis(file)?;
        let edits = edits(&analysis, file, old, new);
        (!edits.is_empty()).then(|| FileEdits { file: file.clone(), text: analysis.text(), edits })
    };
    all.filter_map(edited).collect()
}

fn is_within(file: &str, old: &str) -> bool {
    file.strip_prefix(old).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn edits(analysis: &Analysis, file: &str, old: &str, new: &str) -> Vec<TextEdit> {
    let folder = folder_of(file);
    let mut all = Vec::new();
    for located in analysis.documents() {
        for node in located.document.tree().nodes().filter(|node| node.is_scalar() && !node.is_key()) {
            let text = node.value();
            // a generator may give the file another key: `key=path`
            let (key, path) = text.split_once('=').map_or((None, &*text), |(key, path)| (Some(key), path));
            // what names the folder itself names no file
            if path.is_empty() || path == "." || path.contains('\n') {
                continue;
            }
            let meant = relative(folder, path);
            if !is_within(&meant, old) {
                continue;
            }
            let path = way(folder, &format!("{new}{}", &meant[old.len()..]));
            let path = if text.starts_with("./") { format!("./{path}") } else { path };
            let written = key.map_or(path.clone(), |key| format!("{key}={path}"));
            let changes = edit::replace_value(node, &edit::quote_scalar(&written)).into_iter();
            all.extend(changes.map(|one| TextEdit { span: one.span.shift(located.offset), new_text: one.new_text }));
        }
    }
    all
}
