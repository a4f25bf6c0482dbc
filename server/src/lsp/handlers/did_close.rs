//! `textDocument/didClose`: the file on disk counts again.

use crate::lsp::backend::Backend;
use crate::lsp::{convert, files, publish};
use std::sync::Arc;
use tower_lsp::lsp_types::DidCloseTextDocumentParams;

/// Forgets the document and goes back to what is on disk, which also takes its diagnostics off the screen where the
/// file has none.
pub(in crate::lsp) fn handle(backend: &Backend, params: DidCloseTextDocumentParams) {
    let uri = &params.text_document.uri;
    let name = convert::name(uri);
    let open = backend.shared.session.snapshot(&name);
    if backend.shared.session.close(&name) {
        if let Some(open) = open.filter(|open| *open.uri != *name) {
            publish::withdraw(&backend.shared, &open.name, &open.uri);
        }
        backend.shared.tokens.forget(uri);
        backend.shared.previews.forget(uri);
        files::rescan(&backend.shared, [Arc::from(name)]);
    }
}
