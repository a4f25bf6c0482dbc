//! `textDocument/codeLens`: lines above resources and providers.

use super::execute_command;
use crate::documents::Snapshot;
use crate::ide::{self, Analysis, LensAction};
use crate::lsp::backend::{Backend, Shared};
use crate::lsp::convert;
use serde_json::{Value, json};
use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types::{CodeLens, CodeLensParams, Command, Location, Url};

/// Lines above resources. A lens whose command neither the client nor the server runs is left out: a click on it would
/// be an error.
pub(in crate::lsp) async fn handle(backend: &Backend, params: CodeLensParams) -> Result<Option<Vec<CodeLens>>> {
    let uri = params.text_document.uri.clone();
    let query = move |shared: &Shared, snapshot: &Snapshot, analysis: &Analysis| {
        let lenses = ide::lenses(analysis).into_iter();
        lenses.filter_map(|lens| shown(shared, snapshot, &params.text_document.uri, lens)).collect()
    };
    backend.ask(&uri, "textDocument/codeLens", query).await
}

fn shown(shared: &Shared, snapshot: &Snapshot, uri: &Url, lens: ide::Lens) -> Option<CodeLens> {
    let client = shared.client_capabilities();
    let range = convert::range(&snapshot.rope, lens.span, client.encoding);
    let (name, arguments): (&str, Vec<Value>) = match lens.action {
        LensAction::Preview => ("llsd.preview", vec![json!(uri), json!(range.start)]),
        LensAction::References(places) => {
            let place =
                |span| Location { uri: uri.clone(), range: convert::range(&snapshot.rope, span, client.encoding) };
            let places: Vec<Location> = places.into_iter().map(place).collect();
            ("llsd.showReferences", vec![json!(uri), json!(range.start), json!(places)])
        }
        LensAction::Migrate { document } => (execute_command::MIGRATE, vec![json!(uri), json!(document)]),
    };
    let runs = match name {
        execute_command::MIGRATE => client.applies_edits,
        name => client.commands.iter().any(|known| known == name),
    };
    let command = Command { title: lens.title, command: name.to_owned(), arguments: Some(arguments) };
    runs.then_some(CodeLens { range, command: Some(command), data: None })
}
