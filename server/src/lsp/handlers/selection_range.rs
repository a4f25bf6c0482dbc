//! `textDocument/selectionRange`: what encloses a place, step by step.

use crate::documents::Snapshot;
use crate::ide::{self, Analysis};
use crate::lsp::backend::{Backend, Shared};
use crate::lsp::convert;
use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types::{SelectionRange, SelectionRangeParams};

/// For each position the ranges around it.
pub(in crate::lsp) async fn handle(
    backend: &Backend,
    params: SelectionRangeParams,
) -> Result<Option<Vec<SelectionRange>>> {
    let positions = params.positions;
    let query = move |shared: &Shared, snapshot: &Snapshot, analysis: &Analysis| {
        let encoding = shared.client_capabilities().encoding;
        let around = |position| {
            let offset = convert::offset(&snapshot.rope, position, encoding);
            let here = convert::position(&snapshot.rope, offset, encoding);
            let nothing =
                SelectionRange { range: tower_lsp::lsp_types::Range { start: here, end: here }, parent: None };
            let outward = ide::selection_ranges(analysis, offset).into_iter().rev();
            let chain = outward.fold(None, |parent, span| {
                let range = convert::range(&snapshot.rope, span, encoding);
                Some(SelectionRange { range, parent: parent.map(Box::new) })
            });
            chain.unwrap_or(nothing)
        };
        positions.into_iter().map(around).collect()
    };
    backend.ask(&params.text_document.uri, "textDocument/selectionRange", query).await
}
