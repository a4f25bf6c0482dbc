//! `textDocument/didOpen`: the client's text counts, not the one on disk.

use crate::lsp::backend::Backend;
use crate::lsp::{convert, files, publish, virtual_document};
use ropey::Rope;
use std::sync::Arc;
use tower_lsp::lsp_types::DidOpenTextDocumentParams;

/// Takes the document and starts looking at it.
pub(in crate::lsp) fn handle(backend: &Backend, params: DidOpenTextDocumentParams) {
    let document = params.text_document;
    let name = convert::name(&document.uri);
    // Our own texts are known better than the editor's copies of them.
    if virtual_document::is_virtual(&name) {
        return;
    }
    let text = Rope::from_str(&document.text);
    if document.uri.as_str() != name {
        publish::withdraw(&backend.shared, &Arc::from(name.as_str()), &name);
    }
    let starts = backend.shared.session.open(&name, document.uri.as_str(), document.version, text);
    files::opened(&backend.shared, &name);
    files::look_beside(&backend.shared, &document.uri);
    backend.shared.cluster.wake();
    if starts {
        publish::start(&backend.shared, [Arc::from(name)]);
    }
}
