//! `textDocument/hover`: what a place means, in Markdown.

use crate::ide::{self, TextId};
use crate::lsp::backend::Backend;
use crate::lsp::navigate;
use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types::{Hover, HoverContents, HoverParams, MarkupContent, MarkupKind};

/// What is known about the text under the pointer.
pub(in crate::lsp) async fn handle(backend: &Backend, params: HoverParams) -> Result<Option<Hover>> {
    let at = params.text_document_position_params;
    let hover = navigate::ask(backend, &at.text_document.uri, "textDocument/hover", move |asked| {
        let offset = asked.offset(at.position);
        let found = match (&asked.query.place, asked.query.analysis) {
            (TextId::File(_), Some(analysis)) => ide::hover(analysis, offset),
            _ => ide::hover_generated(&asked.query, offset),
        }?;
        Some(Hover {
            contents: HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value: found.markdown }),
            range: Some(asked.range(found.span)),
        })
    });
    Ok(hover.await?.flatten())
}
