//! `llsd/preview`: the config that a resource stands for, with the origin of every line.
//!
//! While the text is half-written and gives no config, the answer is the last one that could be given, marked as stale.

use crate::documents::Snapshot;
use crate::ide::{self, Analysis, OriginKind};
use crate::lsp::backend::{Backend, Shared};
use crate::lsp::convert;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types::{Position, Range, TextDocumentIdentifier, Url};

/// Which resource: the one at `position`, else number `resource` of document number `document` of the file (both from
/// 0, and 0 if missing), else the first of the file.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::lsp) struct Params {
    pub(super) text_document: TextDocumentIdentifier,
    position: Option<Position>,
    document: Option<usize>,
    resource: Option<usize>,
    /// Whether what the distribution's config brings is folded away.
    #[serde(default)]
    fold: bool,
}

/// The last config of each resource of an open document that could be generated.
#[derive(Debug, Default)]
pub(in crate::lsp) struct LastPreviews(Mutex<HashMap<Url, Configs>>);

/// Configs by namespace and name of their resource.
type Configs = HashMap<(String, String), ide::Preview>;

impl LastPreviews {
    /// Forgets a document that was closed.
    pub(in crate::lsp) fn forget(&self, uri: &Url) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(uri);
    }

    /// Remembers a good config; `None` if this is none. Else the last good one of the resource.
    fn last_good(&self, uri: &Url, now: &ide::Preview) -> Option<ide::Preview> {
        let mut shown = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let of_document = shown.entry(uri.clone()).or_default();
        let name = (now.namespace.clone(), now.name.clone());
        if now.hash.is_empty() {
            return of_document.get(&name).cloned();
        }
        of_document.insert(name, now.clone());
        None
    }
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
    namespace: String,
    image: Option<String>,
    /// Null where neither name nor tag of the image tell.
    llama_stack_version: Option<String>,
    /// Whether this is the config of an earlier text: `problems` say what is wrong with the present one.
    stale: bool,
    problems: Vec<Problem>,
    text: String,
    language_id: &'static str,
    /// One per line of `text`.
    lines: Vec<Line>,
    env: Vec<Env>,
    /// SHA-256 of the whole text in hex; empty where nothing is generated.
    hash: String,
    warnings: Vec<String>,
}

/// A finding for which no config can be generated, with the range that the client shows.
#[derive(Debug, Serialize)]
struct Problem {
    message: String,
    path: String,
    range: Range,
}

#[derive(Debug, Serialize)]
pub(super) struct Line {
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
    /// Name of the user's Secret; absent for those that the operator derives.
    #[serde(skip_serializing_if = "Option::is_none")]
    secret: Option<String>,
    /// The key of that Secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
}

/// Generates the config of one resource; null if there is no resource at that place.
pub(in crate::lsp) async fn handle(backend: &Backend, params: Params) -> Result<Option<Answer>> {
    let uri = params.text_document.uri.clone();
    let query =
        move |shared: &Shared, snapshot: &Snapshot, analysis: &Analysis| answer(shared, snapshot, analysis, &params);
    Ok(backend.ask(&uri, "llsd/preview", query).await?.flatten())
}

/// The document and the resource in it that are asked for.
pub(super) fn place(
    shared: &Shared,
    snapshot: &Snapshot,
    analysis: &Analysis,
    params: &Params,
) -> Option<(usize, usize)> {
    let encoding = shared.client_capabilities().encoding;
    let at = params.position.map(|position| convert::offset(&snapshot.rope, position, encoding));
    match (at, params.document) {
        (Some(offset), _) => analysis.resource_at(offset),
        (None, Some(document)) => Some((document, params.resource.unwrap_or_default())),
        (None, None) => Some((analysis.resources().first()?.document, 0)),
    }
}

/// The origin of a line in the protocol's terms.
pub(super) fn line(shared: &Shared, snapshot: &Snapshot, line: ide::LineOrigin) -> Line {
    let encoding = shared.client_capabilities().encoding;
    Line {
        kind: match line.kind {
            OriginKind::Resource => "resource",
            OriginKind::Base => "base",
            OriginKind::Default => "default",
            OriginKind::Rule => "rule",
        },
        path: line.path,
        range: line.source_span.map(|span| convert::range(&snapshot.rope, span, encoding)),
    }
}

fn answer(shared: &Shared, snapshot: &Snapshot, analysis: &Analysis, params: &Params) -> Option<Answer> {
    let encoding = shared.client_capabilities().encoding;
    let (document, resource) = place(shared, snapshot, analysis, params)?;
    let mut preview = ide::preview_of(analysis, document, resource)?;
    if let Some(good) = shared.previews.last_good(&params.text_document.uri, &preview) {
        preview = ide::keep_preview(&good, preview, analysis, document, resource);
    }
    if params.fold {
        preview = ide::fold_preview(preview);
    }
    let env = |env: ide::PreviewEnv| {
        let (secret, key) = env.secret.unzip();
        Env { name: env.name, source: env.source, path: env.path, secret, key }
    };
    let problem = |problem: ide::Problem| Problem {
        message: problem.message,
        path: problem.path,
        range: convert::range(&snapshot.rope, problem.span, encoding),
    };
    Some(Answer {
        version: snapshot.version,
        document,
        resource,
        name: preview.name,
        namespace: preview.namespace,
        image: preview.image,
        llama_stack_version: preview.llama_stack_version,
        stale: preview.stale,
        problems: preview.problems.into_iter().map(problem).collect(),
        text: preview.text,
        language_id: "yaml",
        lines: preview.lines.into_iter().map(|origin| line(shared, snapshot, origin)).collect(),
        env: preview.env.into_iter().map(env).collect(),
        hash: preview.hash,
        warnings: preview.warnings,
    })
}
