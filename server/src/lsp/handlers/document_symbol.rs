//! `textDocument/documentSymbol`: the outline of a file.

use crate::documents::Snapshot;
use crate::ide::{self, Symbol, SymbolKind};
use crate::lsp::backend::Backend;
use crate::lsp::convert::{self, Encoding};
use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types::{self as lsp, DocumentSymbol, DocumentSymbolParams, DocumentSymbolResponse, Location};

/// The outline: a tree, or a list for clients that know no trees.
pub(in crate::lsp) async fn handle(
    backend: &Backend,
    params: DocumentSymbolParams,
) -> Result<Option<DocumentSymbolResponse>> {
    let uri = params.text_document.uri;
    let target = uri.clone();
    let query = move |shared: &crate::lsp::backend::Shared, snapshot: &Snapshot, analysis: &ide::Analysis| {
        let client = shared.client_capabilities();
        let symbols = ide::symbols(analysis);
        if client.nested_symbols {
            let nested = symbols.into_iter().map(|symbol| nested(snapshot, symbol, client.encoding)).collect();
            DocumentSymbolResponse::Nested(nested)
        } else {
            DocumentSymbolResponse::Flat(flat(snapshot, symbols, &target, client.encoding))
        }
    };
    backend.ask(&uri, "textDocument/documentSymbol", query).await
}

#[expect(deprecated, reason = "the type has a deprecated field that must be set")]
fn nested(snapshot: &Snapshot, symbol: Symbol, encoding: Encoding) -> DocumentSymbol {
    DocumentSymbol {
        name: symbol.name,
        detail: Some(symbol.detail).filter(|text| !text.is_empty()),
        kind: kind(symbol.kind),
        tags: None,
        deprecated: None,
        range: convert::range(&snapshot.rope, symbol.span, encoding),
        selection_range: convert::range(&snapshot.rope, symbol.selection, encoding),
        children: Some(symbol.children.into_iter().map(|child| nested(snapshot, child, encoding)).collect()),
    }
}

#[expect(deprecated, reason = "the type has a deprecated field that must be set")]
fn flat(snapshot: &Snapshot, symbols: Vec<Symbol>, uri: &lsp::Url, encoding: Encoding) -> Vec<lsp::SymbolInformation> {
    let mut waiting: Vec<(Symbol, Option<String>)> = symbols.into_iter().rev().map(|symbol| (symbol, None)).collect();
    let mut all = Vec::new();
    while let Some((symbol, container)) = waiting.pop() {
        let inside = Some(symbol.name.clone());
        waiting.extend(symbol.children.into_iter().rev().map(|child| (child, inside.clone())));
        all.push(lsp::SymbolInformation {
            name: symbol.name,
            kind: kind(symbol.kind),
            tags: None,
            deprecated: None,
            location: Location { uri: uri.clone(), range: convert::range(&snapshot.rope, symbol.span, encoding) },
            container_name: container,
        });
    }
    all
}

fn kind(kind: SymbolKind) -> lsp::SymbolKind {
    match kind {
        SymbolKind::Resource => lsp::SymbolKind::CLASS,
        SymbolKind::Section => lsp::SymbolKind::NAMESPACE,
        SymbolKind::Provider => lsp::SymbolKind::MODULE,
        SymbolKind::Item => lsp::SymbolKind::CONSTANT,
        SymbolKind::Field => lsp::SymbolKind::FIELD,
    }
}
