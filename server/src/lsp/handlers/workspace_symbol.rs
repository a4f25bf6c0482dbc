//! `workspace/symbol`: finds declarations by a part of their name.

use crate::ide::{self, Kind};
use crate::lsp::backend::{Backend, Shared};
use crate::lsp::navigate::LocationConverter;
use crate::lsp::workspace_files::QueryFiles;
use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types::{SymbolInformation, SymbolKind, WorkspaceSymbolParams};

/// Answers at most: an editor's list is typed shorter, not scrolled.
const LIMIT: usize = 128;

/// Names that are declared anywhere in the workspace, by some of their letters.
pub(in crate::lsp) async fn handle(
    backend: &Backend,
    params: WorkspaceSymbolParams,
) -> Result<Option<Vec<SymbolInformation>>> {
    backend.run("workspace/symbol", move |shared, _| find(shared, &params.query)).await
}

#[expect(deprecated, reason = "the type has a deprecated field that must be set")]
fn find(shared: &Shared, query: &str) -> Vec<SymbolInformation> {
    let found = shared.names.with(|index| index.search(query, LIMIT));
    let mut places = LocationConverter::new(shared);
    let symbols = ide::workspace_symbols(&QueryFiles::new(shared), &found, LIMIT);
    let information = |symbol: ide::WorkspaceSymbol| {
        Some(SymbolInformation {
            location: places.location(&symbol.location)?,
            name: symbol.name,
            kind: kind(symbol.kind),
            tags: None,
            deprecated: None,
            container_name: Some(symbol.container).filter(|name| !name.is_empty()),
        })
    };
    symbols.into_iter().filter_map(information).collect()
}

fn kind(kind: Kind) -> SymbolKind {
    match kind {
        Kind::Resource | Kind::Distribution => SymbolKind::CLASS,
        Kind::Provider => SymbolKind::MODULE,
        Kind::Model | Kind::Shield | Kind::ToolGroup => SymbolKind::CONSTANT,
        Kind::Secret => SymbolKind::KEY,
        Kind::ConfigMap => SymbolKind::OBJECT,
    }
}
