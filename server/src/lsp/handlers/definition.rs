//! `textDocument/definition` and `textDocument/implementation`: from a name to what declares it.

use crate::ide::{self, Location, Query};
use crate::lsp::backend::Backend;
use crate::lsp::navigate;
use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types::{GotoDefinitionParams, GotoDefinitionResponse, TextDocumentPositionParams};

/// Where a name is declared; where a generated line comes from.
pub(in crate::lsp) async fn definition(
    backend: &Backend,
    params: GotoDefinitionParams,
) -> Result<Option<GotoDefinitionResponse>> {
    answer(backend, params.text_document_position_params, "textDocument/definition", ide::definition).await
}

/// The lines of the generated config that a field produces.
pub(in crate::lsp) async fn implementation(
    backend: &Backend,
    params: GotoDefinitionParams,
) -> Result<Option<GotoDefinitionResponse>> {
    answer(backend, params.text_document_position_params, "textDocument/implementation", ide::implementation).await
}

async fn answer(
    backend: &Backend,
    at: TextDocumentPositionParams,
    what: &'static str,
    of: fn(&Query<'_>, usize) -> Vec<Location>,
) -> Result<Option<GotoDefinitionResponse>> {
    let found = navigate::ask(backend, &at.text_document.uri, what, move |asked| {
        let found = of(&asked.query, asked.offset(at.position));
        asked.places.locations(&found)
    });
    Ok(found.await?.filter(|found| !found.is_empty()).map(GotoDefinitionResponse::Array))
}
