//! `workspace/didChangeWatchedFiles`, and which files are watched.

use crate::lsp::backend::{Backend, Shared};
use crate::lsp::{configuration, convert, files};
use crate::project;
use std::sync::Arc;
use tower_lsp::lsp_types::{
    DidChangeWatchedFilesParams, DidChangeWatchedFilesRegistrationOptions, FileChangeType, FileEvent,
    FileSystemWatcher, GlobPattern, OneOf, Registration, RelativePattern, Unregistration, Url, WatchKind,
};

/// The glob of files that clients are asked to watch.
const MANIFESTS: &str = "**/*.{yaml,yml}";
/// Also watched for: a team's settings.
const PROJECTS: &str = "**/llsd.toml";
/// Also watched for, where it goes away: of a folder that is deleted, some clients tell the folder only.
const FOLDERS: &str = "**/*";
const ID: &str = "llsd-manifests";
const METHOD: &str = "workspace/didChangeWatchedFiles";

/// Looks at the files that changed on disk. Of a folder that is gone some clients name the folder only.
pub(in crate::lsp) fn handle(backend: &Backend, params: DidChangeWatchedFilesParams) {
    let (gone, other): (Vec<_>, Vec<_>) =
        params.changes.into_iter().partition(|change| change.typ == FileChangeType::DELETED);
    let is_project = |change: &FileEvent| change.uri.path().ends_with(&format!("/{}", project::FILE_NAME));
    let decides = |change: &FileEvent| {
        convert::file_path(&change.uri).is_some_and(|path| backend.shared.configuration.depends_on(&path))
    };
    if gone.iter().chain(&other).any(decides) {
        configuration::projects_changed(&backend.shared);
    }
    files::rescan_below(&backend.shared, gone.iter().map(|change| &change.uri));
    let names = other.into_iter().filter(|change| !is_project(change));
    files::rescan(&backend.shared, names.map(|change| Arc::from(convert::name(&change.uri))));
}

/// Has the client watch the manifests of the workspace folders as they are now. Nobody waits for its answer.
pub(in crate::lsp) fn watch(shared: &Arc<Shared>) {
    let capabilities = shared.client_capabilities();
    if !capabilities.watches {
        return;
    }
    let all = WatchKind::Create | WatchKind::Change | WatchKind::Delete;
    let watched = [(MANIFESTS, all), (PROJECTS, all), (FOLDERS, WatchKind::Delete)];
    let folders = shared.folders();
    let watchers = watched.into_iter().flat_map(|(pattern, kind)| {
        let patterns: Vec<GlobPattern> = if capabilities.relative_patterns && !folders.is_empty() {
            let relative =
                |base: &Url| RelativePattern { base_uri: OneOf::Right(base.clone()), pattern: pattern.to_owned() };
            folders.iter().map(|folder| GlobPattern::Relative(relative(folder))).collect()
        } else {
            vec![GlobPattern::String(pattern.to_owned())]
        };
        patterns.into_iter().map(move |glob_pattern| FileSystemWatcher { glob_pattern, kind: Some(kind) })
    });
    let watchers = watchers.collect();
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
