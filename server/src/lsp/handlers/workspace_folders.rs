//! `workspace/didChangeWorkspaceFolders`: folders that are added or removed.

use super::watched_files;
use crate::lsp::backend::Backend;
use crate::lsp::{configuration, files};
use serde_json::Value;
use tower_lsp::lsp_types::DidChangeWorkspaceFoldersParams;

/// Looks through new folders, and forgets what only removed ones have.
pub(in crate::lsp) fn handle(backend: &Backend, params: DidChangeWorkspaceFoldersParams) {
    let shared = &backend.shared;
    let added: Vec<_> = params.event.added.into_iter().map(|folder| folder.uri).collect();
    let removed: Vec<_> = params.event.removed.into_iter().map(|folder| folder.uri).collect();
    shared.change_folders(&added, &removed);
    watched_files::watch(shared);
    // Each folder may have settings of its own.
    if shared.client_capabilities().configuration {
        configuration::reload(shared, Value::Null);
    }
    files::rescan_below(shared, &removed);
    files::scan(shared, added);
}
