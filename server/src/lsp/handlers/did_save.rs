//! `textDocument/didSave`: what is on disk can be built.

use crate::lsp::backend::Backend;
use crate::lsp::{builds, convert};
use tower_lsp::lsp_types::DidSaveTextDocumentParams;

/// Has the kustomizations built that take the file, where the user wants that.
pub(in crate::lsp) fn handle(backend: &Backend, params: &DidSaveTextDocumentParams) {
    builds::saved(&backend.shared, &convert::name(&params.text_document.uri));
}
