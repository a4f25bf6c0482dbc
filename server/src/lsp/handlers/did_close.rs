//! `textDocument/didClose`.

use crate::lsp::backend::Backend;
use crate::lsp::{convert, files};
use std::sync::Arc;
use tower_lsp::lsp_types::DidCloseTextDocumentParams;

/// Forgets the document and goes back to what is on disk, which also takes its diagnostics off the screen where the
/// file has none.
pub(in crate::lsp) fn handle(backend: &Backend, params: DidCloseTextDocumentParams) {
    let uri = &params.text_document.uri;
    let name = convert::name(uri);
    if backend.shared.session.close(&name) {
        backend.shared.tokens.forget(uri);
        backend.shared.previews.forget(uri);
        files::look(&backend.shared, [Arc::from(name)]);
    }
}
