//! `textDocument/didOpen`.

use crate::lsp::backend::Backend;
use crate::lsp::publish;
use ropey::Rope;
use std::sync::Arc;
use tower_lsp::lsp_types::DidOpenTextDocumentParams;

/// Takes the document and starts looking at it.
pub(in crate::lsp) fn handle(backend: &Backend, params: DidOpenTextDocumentParams) {
    let document = params.text_document;
    let name = document.uri.as_str();
    if backend.shared.session.open(name, document.version, Rope::from_str(&document.text)) {
        publish::start(&backend.shared, [Arc::from(name)]);
    }
}
