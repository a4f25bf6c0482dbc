//! `textDocument/foldingRange`: what can be folded.

use crate::documents::Snapshot;
use crate::ide::{self, Analysis, FoldKind};
use crate::lsp::backend::{Backend, Shared};
use crate::lsp::convert;
use crate::workspace::Host;
use std::path::Path;
use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types::{FoldingRange, FoldingRangeKind, FoldingRangeParams};

/// What can be folded, by whole lines.
pub(in crate::lsp) async fn handle(backend: &Backend, params: FoldingRangeParams) -> Result<Option<Vec<FoldingRange>>> {
    backend.ask(&params.text_document.uri, "textDocument/foldingRange", folds).await
}

fn folds(shared: &Shared, snapshot: &Snapshot, analysis: &Analysis) -> Vec<FoldingRange> {
    let encoding = shared.client_capabilities().encoding;
    let range = |fold: ide::Fold| {
        let range = convert::range(&snapshot.rope, fold.span, encoding);
        FoldingRange {
            start_line: range.start.line,
            end_line: range.end.line,
            start_character: None,
            end_character: None,
            kind: match fold.kind {
                FoldKind::Value => None,
                FoldKind::Comment => Some(FoldingRangeKind::Comment),
                FoldKind::Region => Some(FoldingRangeKind::Region),
            },
            collapsed_text: None,
        }
    };
    // Of a file that holds manifests, everything else is a comment to the analysis, and code to its reader.
    let is_manifest = Host::of(Path::new(&*snapshot.name)).is_none();
    let folds = ide::folds(analysis).into_iter().filter(|fold| is_manifest || fold.kind == FoldKind::Value);
    folds.map(range).filter(|range| range.start_line < range.end_line).collect()
}
