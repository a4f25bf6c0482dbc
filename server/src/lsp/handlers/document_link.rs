//! `textDocument/documentLink`: names that lead to pages, rules and declarations.

use crate::ide::{self, LinkTarget};
use crate::lsp::backend::Backend;
use crate::lsp::{navigate, publish};
use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types::{self as lsp, DocumentLinkParams, Url};

/// The texts that lead somewhere.
pub(in crate::lsp) async fn handle(
    backend: &Backend,
    params: DocumentLinkParams,
) -> Result<Option<Vec<lsp::DocumentLink>>> {
    let uri = params.text_document.uri;
    navigate::ask(backend, &uri, "textDocument/documentLink", move |asked| {
        let mut links = Vec::new();
        for link in ide::links(&asked.query) {
            let target = match &link.target {
                LinkTarget::Page(page) => Url::parse(page).ok(),
                LinkTarget::Rule(rule) => publish::documentation(rule),
                LinkTarget::Location(location) => asked.places.location(location).map(|location| {
                    let mut uri = location.uri;
                    // the form that editors read a line and column from
                    let start = location.range.start;
                    uri.set_fragment(Some(&format!("L{},{}", start.line + 1, start.character + 1)));
                    uri
                }),
            };
            links.extend(target.map(|target| lsp::DocumentLink {
                range: asked.range(link.span),
                target: Some(target),
                tooltip: Some(link.tooltip),
                data: None,
            }));
        }
        links
    })
    .await
}
