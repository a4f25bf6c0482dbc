//! `textDocument/hover`.

use crate::ide;
use crate::lsp::backend::Backend;
use crate::lsp::convert;
use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types::{Hover, HoverContents, HoverParams, MarkupContent, MarkupKind};

/// What is known about the text under the pointer.
pub(in crate::lsp) async fn handle(backend: &Backend, params: HoverParams) -> Result<Option<Hover>> {
    let place = params.text_document_position_params;
    let hover = backend.ask(&place.text_document.uri, "textDocument/hover", move |shared, snapshot, analysis| {
        let encoding = shared.client_capabilities().encoding;
        let found = ide::hover(analysis, convert::offset(&snapshot.rope, place.position, encoding))?;
        Some(Hover {
            contents: HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value: found.markdown }),
            range: Some(convert::range(&snapshot.rope, found.span, encoding)),
        })
    });
    Ok(hover.await?.flatten())
}
