//! `textDocument/didChange`: takes edits in and has the document analysed.

use crate::ide::{Delta, Span};
use crate::lsp::backend::Backend;
use crate::lsp::{convert, publish};
use std::sync::Arc;
use tower_lsp::lsp_types::DidChangeTextDocumentParams;

/// Changes the document before anything is awaited, so changes apply in the order in which they arrived.
pub(in crate::lsp) fn handle(backend: &Backend, params: DidChangeTextDocumentParams) {
    let name = convert::name(&params.text_document.uri);
    let Some(snapshot) = backend.shared.session.snapshot(&name) else {
        tracing::warn!(document = name, "a change of a document that is not open");
        return;
    };
    let mut rope = snapshot.rope.clone();
    let encoding = backend.shared.client_capabilities().encoding;
    let delta = convert::apply(&mut rope, params.content_changes, encoding);
    let delta = delta.unwrap_or_else(|| Delta::replaced(Span::new(0, 0), 0));
    if backend.shared.session.change(&snapshot, params.text_document.version, rope, delta) {
        publish::start(&backend.shared, [Arc::clone(&snapshot.name)]);
    }
}
