//! `llsd/panic`: fails on purpose. Only unoptimised builds have it, for the tests of what a fault does to a session.

use crate::lsp::backend::Backend;
use serde::Deserialize;
use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types::{TextDocumentIdentifier, Url};

/// The parameters: which part of the server is to panic.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::lsp) struct Params {
    /// With a document: while a question about it is answered; without: in the handler itself.
    text_document: Option<TextDocumentIdentifier>,
}

/// Panics where it was asked to, so that tests can show that the session goes on.
pub(in crate::lsp) async fn handle(backend: &Backend, params: Params) -> Result<Option<()>> {
    let uri: Option<Url> = params.text_document.map(|document| document.uri);
    match uri {
        Some(uri) => backend.ask(&uri, "llsd/panic", |_, _, _| panic!("asked to, in a question")).await,
        None => panic!("asked to, in a handler"),
    }
}
