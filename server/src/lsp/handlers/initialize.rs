//! `initialize` and `initialized`.

use super::workspace_folders;
use crate::ide;
use crate::lsp::backend::Backend;
use crate::lsp::capabilities::{self, Client};
use std::mem;
use std::sync::PoisonError;
use tower_lsp::lsp_types::{
    DidChangeWatchedFilesRegistrationOptions, FileSystemWatcher, GlobPattern, InitializeParams, InitializeResult,
    Registration, ServerInfo, WatchKind,
};

/// Answers at once; everything that takes time waits for [`ready`].
pub(in crate::lsp) fn handle(backend: &Backend, params: InitializeParams) -> InitializeResult {
    let client = Client::new(&params);
    let capabilities = capabilities::server(&client);
    // tower-lsp lets only one `initialize` through, so the first value is the only one.
    let _ = backend.shared.capabilities.set(client);
    let folders = match params.workspace_folders {
        Some(folders) => folders.into_iter().map(|folder| folder.uri).collect(),
        // Older clients send nothing else.
        None => params.root_uri.into_iter().collect(),
    };
    *backend.shared.folders.lock().unwrap_or_else(PoisonError::into_inner) = folders;
    InitializeResult {
        capabilities,
        server_info: Some(ServerInfo { name: "llsd".to_owned(), version: Some(env!("CARGO_PKG_VERSION").to_owned()) }),
    }
}

/// Looks through the workspace, has its files watched, and reads the embedded schema and catalogs before the first
/// document needs them.
pub(in crate::lsp) fn ready(backend: &Backend) {
    tokio::task::spawn_blocking(ide::warm);
    let folders = mem::take(&mut *backend.shared.folders.lock().unwrap_or_else(PoisonError::into_inner));
    workspace_folders::scan(&backend.shared, folders);
    if backend.shared.client_capabilities().watches {
        let client = backend.shared.client.clone();
        // A client may take its time, or never answer: nobody waits for it.
        tokio::spawn(async move {
            if let Err(error) = client.register_capability(vec![watch_manifests()]).await {
                tracing::warn!(%error, "the client does not watch files");
            }
        });
    }
}

fn watch_manifests() -> Registration {
    let watcher = FileSystemWatcher {
        glob_pattern: GlobPattern::String("**/*.{yaml,yml}".to_owned()),
        kind: Some(WatchKind::Create | WatchKind::Change | WatchKind::Delete),
    };
    let options = DidChangeWatchedFilesRegistrationOptions { watchers: vec![watcher] };
    Registration {
        id: "llsd-manifests".to_owned(),
        method: "workspace/didChangeWatchedFiles".to_owned(),
        register_options: serde_json::to_value(options).ok(),
    }
}
