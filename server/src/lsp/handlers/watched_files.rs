//! `workspace/didChangeWatchedFiles`, and which files are watched.

use crate::lsp::backend::{Backend, Shared};
use crate::lsp::{convert, files};
use std::sync::Arc;
use tower_lsp::lsp_types::{
    DidChangeWatchedFilesParams, DidChangeWatchedFilesRegistrationOptions, FileChangeType, FileSystemWatcher,
    GlobPattern, OneOf, Registration, RelativePattern, Unregistration, WatchKind,
};

/// What is watched for.
const MANIFESTS: &str = "**/*.{yaml,yml}";
const ID: &str = "llsd-manifests";
const METHOD: &str = "workspace/didChangeWatchedFiles";

/// Looks at the files that changed on disk. Of a folder that is gone some clients name the folder only.
pub(in crate::lsp) fn handle(backend: &Backend, params: DidChangeWatchedFilesParams) {
    let (gone, other): (Vec<_>, Vec<_>) =
        params.changes.into_iter().partition(|change| change.typ == FileChangeType::DELETED);
    gone.iter().for_each(|change| files::look_below(&backend.shared, &change.uri));
    files::look(&backend.shared, other.into_iter().map(|change| Arc::from(convert::name(&change.uri))));
}

/// Has the client watch the manifests of the workspace folders as they are now. Nobody waits for its answer.
pub(in crate::lsp) fn watch(shared: &Arc<Shared>) {
    let capabilities = shared.client_capabilities();
    if !capabilities.watches {
        return;
    }
    let kind = Some(WatchKind::Create | WatchKind::Change | WatchKind::Delete);
    let folders = shared.folders();
    let patterns: Vec<GlobPattern> = if capabilities.relative_patterns && !folders.is_empty() {
        let relative = |base| RelativePattern { base_uri: OneOf::Right(base), pattern: MANIFESTS.to_owned() };
        folders.into_iter().map(|folder| GlobPattern::Relative(relative(folder))).collect()
    } else {
        vec![GlobPattern::String(MANIFESTS.to_owned())]
    };
    let watchers = patterns.into_iter().map(|glob_pattern| FileSystemWatcher { glob_pattern, kind }).collect();
    let options = serde_json::to_value(DidChangeWatchedFilesRegistrationOptions { watchers }).ok();
    let registration = Registration { id: ID.to_owned(), method: METHOD.to_owned(), register_options: options };
    let again = shared.mark_watched();
    let shared = Arc::clone(shared);
    tokio::spawn(async move {
        if again {
            let old = Unregistration { id: ID.to_owned(), method: METHOD.to_owned() };
            if let Err(error) = shared.client.unregister_capability(vec![old]).await {
                tracing::warn!(%error, "the client keeps watching the old folders");
            }
        }
        if let Err(error) = shared.client.register_capability(vec![registration]).await {
            tracing::warn!(%error, "the client does not watch files");
        }
    });
}
