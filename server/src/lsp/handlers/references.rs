//! `textDocument/references` and `textDocument/documentHighlight`: all places of a name.

use crate::ide;
use crate::lsp::backend::Backend;
use crate::lsp::navigate;
use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types::{
    DocumentHighlight, DocumentHighlightKind, DocumentHighlightParams, Location, ReferenceParams,
};

/// Every place in the workspace that speaks of a name.
pub(in crate::lsp) async fn references(backend: &Backend, params: ReferenceParams) -> Result<Option<Vec<Location>>> {
    let at = params.text_document_position;
    let declarations = params.context.include_declaration;
    let found = navigate::ask(backend, &at.text_document.uri, "textDocument/references", move |asked| {
        let found = ide::references(&asked.query, asked.offset(at.position), declarations);
        asked.places.locations(&found)
    });
    Ok(found.await?.filter(|found| !found.is_empty()))
}

/// The places of the document that speak of a name: written where it is declared, else read.
pub(in crate::lsp) async fn highlight(
    backend: &Backend,
    params: DocumentHighlightParams,
) -> Result<Option<Vec<DocumentHighlight>>> {
    let at = params.text_document_position_params;
    let found = navigate::ask(backend, &at.text_document.uri, "textDocument/documentHighlight", move |asked| {
        let found = ide::highlight(&asked.query, asked.offset(at.position));
        let highlight = |one: ide::Location| DocumentHighlight {
            range: asked.range(one.span),
            kind: Some(if one.declares { DocumentHighlightKind::WRITE } else { DocumentHighlightKind::READ }),
        };
        found.into_iter().map(highlight).collect::<Vec<_>>()
    });
    Ok(found.await?.filter(|found| !found.is_empty()))
}
