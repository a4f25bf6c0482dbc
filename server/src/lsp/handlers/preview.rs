//! `llsd/preview`: the config that a resource stands for, with the origin of every line.

use crate::documents::Snapshot;
use crate::ide::{self, Analysis, OriginKind};
use crate::lsp::backend::{Backend, Shared};
use crate::lsp::convert;
use serde::{Deserialize, Serialize};
use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types::{Position, Range, TextDocumentIdentifier};

/// Which resource: the one at `position`, else number `resource` of document number `document` of the file (both from
/// 0, and 0 if missing), else the first of the file.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::lsp) struct Params {
    text_document: TextDocumentIdentifier,
    position: Option<Position>,
    document: Option<usize>,
    resource: Option<usize>,
}

/// The config of one version of the document.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::lsp) struct Answer {
    /// The version of the document that this belongs to.
    version: i32,
    /// Number of the resource's document in the file, from 0.
    document: usize,
    /// Number of the resource in that document, from 0: not 0 in a `List` or `Template` only.
    resource: usize,
    name: String,
    text: String,
    language_id: &'static str,
    /// One per line of `text`.
    lines: Vec<Line>,
    env: Vec<Env>,
    /// SHA-256 of `text` in hex; empty where nothing is generated.
    hash: String,
    warnings: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Line {
    /// `resource`, `base`, `default` or `rule`.
    kind: &'static str,
    path: String,
    /// Where in the document, for `resource`.
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<Range>,
}

#[derive(Debug, Serialize)]
struct Env {
    name: String,
    source: String,
    path: String,
}

/// Generates the config of one resource; null if there is no resource at that place.
pub(in crate::lsp) async fn handle(backend: &Backend, params: Params) -> Result<Option<Answer>> {
    let uri = params.text_document.uri.clone();
    let question =
        move |shared: &Shared, snapshot: &Snapshot, analysis: &Analysis| answer(shared, snapshot, analysis, &params);
    Ok(backend.ask(&uri, "llsd/preview", question).await?.flatten())
}

fn answer(shared: &Shared, snapshot: &Snapshot, analysis: &Analysis, params: &Params) -> Option<Answer> {
    let encoding = shared.client_capabilities().encoding;
    let at = params.position.map(|position| convert::offset(&snapshot.rope, position, encoding));
    let (document, resource) = match (at, params.document) {
        (Some(offset), _) => analysis.resource_at(offset)?,
        (None, Some(document)) => (document, params.resource.unwrap_or_default()),
        (None, None) => (analysis.resources().first()?.document, 0),
    };
    let preview = ide::preview_of(analysis, document, resource)?;
    let line = |line: ide::LineOrigin| Line {
        kind: match line.kind {
            OriginKind::Resource => "resource",
            OriginKind::Base => "base",
            OriginKind::Default => "default",
            OriginKind::Rule => "rule",
        },
        path: line.path,
        range: line.source_span.map(|span| convert::range(&snapshot.rope, span, encoding)),
    };
    Some(Answer {
        version: snapshot.version,
        document,
        resource,
        name: preview.name,
        text: preview.text,
        language_id: "yaml",
        lines: preview.lines.into_iter().map(line).collect(),
        env: preview.env.into_iter().map(|env| Env { name: env.name, source: env.source, path: env.path }).collect(),
        hash: preview.hash,
        warnings: preview.warnings,
    })
}
