//! `initialize` and `initialized`: capabilities of both sides, folders, and what the server watches.

use super::watched_files;
use crate::ide;
use crate::lsp::backend::Backend;
use crate::lsp::capabilities::{self, Client};
use crate::lsp::{client_watchdog, computing, configuration};
use serde_json::json;
use std::sync::Arc;
use tower_lsp::lsp_types::{InitializeParams, InitializeResult, Registration, ServerInfo};

/// Answers at once; everything that takes time waits for [`ready`].
pub(in crate::lsp) fn handle(backend: &Backend, params: InitializeParams) -> InitializeResult {
    let client = Client::new(&params);
    let capabilities = capabilities::server(&client);
    // tower-lsp lets only one `initialize` through, so the first value is the only one.
    let _ = backend.shared.capabilities.set(client);
    let folders: Vec<_> = match params.workspace_folders {
        Some(folders) => folders.into_iter().map(|folder| folder.uri).collect(),
        // Older clients send nothing else.
        None => params.root_uri.into_iter().collect(),
    };
    backend.shared.change_folders(&folders, &[]);
    configuration::fall_back(&backend.shared, params.initialization_options.as_ref());
    backend.shared.exit.trace(params.trace.unwrap_or_default());
    if let Some(process) = params.process_id {
        client_watchdog::watch(process, &backend.shared.exit);
    }
    InitializeResult {
        capabilities,
        server_info: Some(ServerInfo { name: "llsd".to_owned(), version: Some(env!("CARGO_PKG_VERSION").to_owned()) }),
    }
}

/// Looks through the workspace, has its files watched, and reads the embedded schema and catalogs before the first
/// document needs them.
pub(in crate::lsp) fn ready(backend: &Backend) {
    computing::spawn(ide::preload);
    let shared = &backend.shared;
    watched_files::watch(shared);
    if shared.client_capabilities().registers_configuration {
        let client = shared.client.clone();
        // A client may take its time, or never answer: nobody waits for it.
        tokio::spawn(async move {
            if let Err(error) = client.register_capability(vec![watch_settings()]).await {
                tracing::warn!(%error, "the client does not tell of changed settings");
            }
        });
    }
    tokio::spawn(configuration::start(Arc::clone(shared)));
}

fn watch_settings() -> Registration {
    Registration {
        id: "llsd-settings".to_owned(),
        method: "workspace/didChangeConfiguration".to_owned(),
        register_options: Some(json!({"section": "llsd"})),
    }
}
