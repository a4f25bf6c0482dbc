//! `workspace/didChangeWorkspaceFolders`, and the first look at the folders.

use super::watched_files;
use crate::lsp::backend::{Backend, Shared};
use crate::lsp::convert;
use crate::workspace;
use std::sync::Arc;
use tower_lsp::lsp_types::{DidChangeWorkspaceFoldersParams, Url};

/// Looks through new folders. What is known of removed ones stays until its files change.
pub(in crate::lsp) fn handle(backend: &Backend, params: DidChangeWorkspaceFoldersParams) {
    scan(&backend.shared, params.event.added.into_iter().map(|folder| folder.uri).collect());
}

/// Looks for manifests below `folders`, off the request loop.
pub(super) fn scan(shared: &Arc<Shared>, folders: Vec<Url>) {
    if folders.is_empty() {
        return;
    }
    let shared = Arc::clone(shared);
    tokio::spawn(async move {
        let job = move || {
            let paths = folders.iter().filter_map(convert::file_path);
            let manifests = paths.flat_map(|folder| workspace::manifests(&folder));
            manifests.filter_map(|path| Url::from_file_path(path).ok()).collect::<Vec<_>>()
        };
        if let Ok(files) = tokio::task::spawn_blocking(job).await {
            watched_files::read_again(&shared, files);
        }
    });
}
