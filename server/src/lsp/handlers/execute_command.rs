//! `workspace/executeCommand`: what the server does itself when a lens or an action is clicked.

use super::edits;
use crate::documents::Snapshot;
use crate::ide::{self, Analysis, NotMigrated, Query, TextId};
use crate::lsp::backend::{Backend, Shared};
use crate::lsp::workspace_files::QueryFiles;
use serde_json::Value;
use std::sync::Arc;
use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::lsp_types::{ExecuteCommandParams, Url, WorkspaceEdit};

/// Rewrites the v1alpha1 resources of a document as v1alpha2. Arguments: the URI, and the number of the document in the
/// file, from 0.
pub(in crate::lsp) const MIGRATE: &str = "llsd.server.migrate";

/// Makes the change that a command stands for, by asking the client to apply it.
pub(in crate::lsp) async fn handle(backend: &Backend, params: ExecuteCommandParams) -> Result<Option<Value>> {
    if params.command != MIGRATE {
        return Err(Error::invalid_params(format!("There is no command \"{}\"", params.command)));
    }
    let uri = params.arguments.first().and_then(Value::as_str).and_then(|uri| Url::parse(uri).ok());
    let document = params.arguments.get(1).and_then(Value::as_u64).and_then(|number| usize::try_from(number).ok());
    let (Some(uri), Some(document)) = (uri, document) else {
        return Err(Error::invalid_params("The arguments are a URI and the number of a document"));
    };
    let target = uri.clone();
    let query = move |shared: &Shared, snapshot: &Snapshot, analysis: &Analysis| {
        let library = QueryFiles::new(shared);
        let place = TextId::File(Arc::clone(&snapshot.name));
        let about = Query { place, analysis: Some(analysis), library: &library, generated: false };
        let migrated = ide::migrate(&about, document, ide::MigrateOptions::default())?;
        let change = edits::Change { own: &migrated.edits, others: &migrated.others, deletes: None };
        Ok((edits::of_files(shared, snapshot, &target, change), migrated.noteworthy()))
    };
    let answer: Option<std::result::Result<(WorkspaceEdit, Vec<String>), NotMigrated>> =
        backend.ask(&uri, "workspace/executeCommand", query).await?;
    let (edit, report) = match answer {
        Some(Ok(done)) => done,
        Some(Err(why)) => return Err(edits::refused(format!("Nothing was migrated: {why}"))),
        None => return Err(edits::refused("Nothing was migrated: the document is not open")),
    };
    edits::tell(&backend.shared, report);
    let client = backend.shared.client.clone();
    // the client may take its time with the change: nobody waits for it
    tokio::spawn(async move {
        match client.apply_edit(edit).await {
            Ok(answer) if !answer.applied => {
                tracing::warn!(reason = ?answer.failure_reason, "a change was not applied")
            }
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "a change was not applied"),
        }
    });
    Ok(None)
}
