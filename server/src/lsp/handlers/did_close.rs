//! `textDocument/didClose`.

use super::watched_files;
use crate::lsp::backend::Backend;
use std::sync::Arc;
use tower_lsp::lsp_types::DidCloseTextDocumentParams;

/// Forgets the document, takes its diagnostics off the screen, and goes back to what is on disk.
pub(in crate::lsp) async fn handle(backend: &Backend, params: DidCloseTextDocumentParams) {
    let uri = params.text_document.uri;
    if !backend.shared.session.close(uri.as_str()) {
        return;
    }
    backend.shared.tokens.forget(&uri);
    backend.shared.previews.forget(&uri);
    let published = backend.shared.mark_published(&Arc::from(uri.as_str()), false);
    watched_files::read_again(&backend.shared, vec![uri.clone()]);
    if published {
        backend.shared.client.publish_diagnostics(uri, Vec::new(), None).await;
    }
}
