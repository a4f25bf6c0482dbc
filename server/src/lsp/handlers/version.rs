//! `llsd/version`: by which version of the server a place is judged, and what tells it.

use crate::documents::Snapshot;
use crate::ide::{self, Analysis};
use crate::lsp::backend::{Backend, Shared};
use crate::lsp::convert;
use serde::Serialize;
use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types::TextDocumentPositionParams;

/// Both in words, for the user.
#[derive(Debug, Serialize)]
pub(in crate::lsp) struct Answer {
    /// Such as `llama-stack 0.4.7`; empty where none is known.
    versions: String,
    reason: String,
}

/// The versions for the config or resource at a position; null where there is neither.
pub(in crate::lsp) async fn handle(backend: &Backend, params: TextDocumentPositionParams) -> Result<Option<Answer>> {
    let uri = params.text_document.uri.clone();
    let query = move |shared: &Shared, snapshot: &Snapshot, analysis: &Analysis| {
        let encoding = shared.client_capabilities().encoding;
        let found = ide::judged_by(analysis, convert::offset(&snapshot.rope, params.position, encoding))?;
        Some(Answer { versions: found.versions, reason: found.reason })
    };
    Ok(backend.ask(&uri, "llsd/version", query).await?.flatten())
}
