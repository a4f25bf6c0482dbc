//! `workspace/didChangeWatchedFiles`.

use crate::lsp::backend::{Backend, Shared};
use crate::lsp::{convert, publish};
use crate::workspace;
use std::sync::Arc;
use tower_lsp::lsp_types::{DidChangeWatchedFilesParams, Url};

/// Reads the files that changed on disk.
pub(in crate::lsp) fn handle(backend: &Backend, params: DidChangeWatchedFilesParams) {
    read_again(&backend.shared, params.changes.into_iter().map(|change| change.uri).collect());
}

/// Reads files again, off the request loop. One that is gone contributes nothing.
pub(super) fn read_again(shared: &Arc<Shared>, files: Vec<Url>) {
    let shared = Arc::clone(shared);
    tokio::spawn(async move {
        let job = {
            let shared = Arc::clone(&shared);
            move || {
                let read = |uri: Url| {
                    let path = convert::file_path(&uri).filter(|path| workspace::is_manifest(path));
                    (uri.to_string(), path.map(|path| workspace::objects_of(&path)).unwrap_or_default())
                };
                shared.session.learn_files(files.into_iter().map(read).collect())
            }
        };
        if let Ok(affected) = tokio::task::spawn_blocking(job).await {
            publish::start(&shared, affected);
        }
    });
}
