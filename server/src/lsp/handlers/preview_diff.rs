//! `llsd/previewDiff`: how the generated config of a resource differs from another one.

use super::edits::refused;
use super::preview::{self, Line};
use crate::cluster::{Running, running_config};
use crate::documents::Snapshot;
use crate::ide::{self, Analysis, Preview, Workspace};
use crate::lsp::backend::{Backend, Shared};
use crate::lsp::{cluster, convert};
use crate::workspace;
use serde::{Deserialize, Serialize};
use std::io::ErrorKind;
use std::ops::Range;
use std::sync::Arc;
use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types::Url;

/// Bytes of a saved file that are read at most.
const MAX_FILE: u64 = 64 << 20;

/// Which resource, as in `llsd/preview`, and what its config is compared with: `base` (the distribution's own config),
/// `saved` (the config of the file as it was saved), `cluster` (the config that runs there), or the URI of a file with
/// another resource: the one of the same name, else the first.
#[derive(Debug, Deserialize)]
pub(in crate::lsp) struct Params {
    #[serde(flatten)]
    which: preview::Params,
    against: String,
}

/// The two configs, the older one first.
#[derive(Debug, Serialize)]
pub(in crate::lsp) struct Answer {
    left: Side,
    right: Side,
    hunks: Vec<Hunk>,
}

#[derive(Debug, Serialize)]
struct Side {
    title: String,
    text: String,
}

/// Lines that differ, counted from 0, without the last one.
#[derive(Debug, Serialize)]
struct Hunk {
    left: Lines,
    right: Lines,
    /// Where the lines on the right come from, each source once.
    origins: Vec<Line>,
}

#[derive(Debug, Serialize)]
struct Lines {
    start: usize,
    end: usize,
}

impl From<Range<usize>> for Lines {
    fn from(lines: Range<usize>) -> Self {
        Self { start: lines.start, end: lines.end }
    }
}

/// Compares the config of one resource. The error says in a sentence why that cannot be done.
pub(in crate::lsp) async fn handle(backend: &Backend, params: Params) -> Result<Answer> {
    let uri = params.which.text_document.uri.clone();
    let query =
        move |shared: &Shared, snapshot: &Snapshot, analysis: &Analysis| answer(shared, snapshot, analysis, &params);
    match backend.ask(&uri, "llsd/previewDiff", query).await? {
        None => Err(refused("The document is not open")),
        Some(answer) => answer.map_err(refused),
    }
}

fn answer(
    shared: &Shared,
    snapshot: &Snapshot,
    analysis: &Analysis,
    params: &Params,
) -> std::result::Result<Answer, String> {
    let place = preview::place(shared, snapshot, analysis, &params.which);
    let (document, resource) = place.ok_or("There is no LlamaStackDistribution at this place")?;
    let right = ide::preview_of(analysis, document, resource).ok_or("There is no such resource in the document")?;
    generated(&right)?;
    let left = match params.against.as_str() {
        "base" => {
            let (name, text) = ide::printed_base_config(analysis, document, resource)
                .ok_or("The base config of an image is in its labels, which are read in the cluster only")?;
            Side { title: format!("base config of {name}"), text }
        }
        "cluster" => running(shared, &right)?,
        "saved" => saved(shared, &params.which.text_document.uri, &right, (document, resource), "saved")?,
        other => {
            let uri = Url::parse(other)
                .map_err(|_| format!("\"{other}\" is neither base, saved, cluster, nor the URI of a file"))?;
            saved(shared, &uri, &right, (usize::MAX, 0), "of the other file")?
        }
    };
    let hunk = |hunk: ide::Hunk| Hunk {
        left: hunk.left.into(),
        right: hunk.right.into(),
        origins: hunk.origins.into_iter().map(|origin| preview::line(shared, snapshot, origin)).collect(),
    };
    let hunks = ide::preview_hunks(&left.text, &right).into_iter().map(hunk).collect();
    Ok(Answer { left, right: Side { title: format!("{} (generated)", right.name), text: right.text }, hunks })
}

/// The config of the resource that has the name of `wanted` in a file, else of the one at `place`, else of the first.
/// Files that are open are taken as they are on the screen, unless it is the saved text that is wanted.
fn saved(
    shared: &Shared,
    uri: &Url,
    wanted: &Preview,
    place: (usize, usize),
    what: &str,
) -> std::result::Result<Side, String> {
    let open = shared.session.snapshot(&convert::name(uri)).filter(|_| what != "saved");
    let analysis = match open {
        Some(snapshot) => shared.analysis(&snapshot, &|| false).ok_or("The file could not be analysed")?,
        None => Arc::new(ide::analyse(read(uri)?.into(), None, &Workspace::new())),
    };
    let mut found: Vec<Preview> = Vec::new();
    let mut same_place = None;
    let mut numbers: Vec<usize> = analysis.resources().iter().map(|resource| resource.document).collect();
    numbers.dedup();
    for document in numbers {
        for resource in 0.. {
            let Some(preview) = ide::preview_of(&analysis, document, resource) else { break };
            if (document, resource) == place {
                same_place = Some(found.len());
            }
            found.push(preview);
        }
    }
    let same_name = |preview: &Preview| preview.name == wanted.name && preview.namespace == wanted.namespace;
    let number = found.iter().position(same_name).or(same_place).unwrap_or_default();
    let preview = found.into_iter().nth(number).ok_or("There is no LlamaStackDistribution in that file")?;
    generated(&preview)?;
    Ok(Side { title: format!("{} ({what})", preview.name), text: preview.text })
}

/// What the cluster runs in place of `wanted`.
fn running(shared: &Shared, wanted: &Preview) -> std::result::Result<Side, String> {
    if shared.client_capabilities().untrusted {
        return Err(
            "The workspace is not trusted, so that the cluster is not asked about what its files name".to_owned()
        );
    }
    let kubectl = cluster::kubectl(shared).ok_or(
        "Cluster access is off. Switch the setting llsd.cluster.enabled on to compare with what runs; it only reads",
    )?;
    let failed = |failure: crate::cluster::Failure| format!("The cluster could not be asked: {failure}");
    let context = kubectl.context().map_err(failed)?;
    let name = &wanted.name;
    match running_config(&kubectl, &wanted.namespace, name).map_err(failed)? {
        Running::ConfigMap(map, text) => Ok(Side { title: format!("{map} (runs in {context})"), text }),
        Running::Resource(manifest) => {
            let analysis = ide::analyse(manifest.into(), None, &Workspace::new());
            let preview = ide::preview_of(&analysis, 0, 0).ok_or("The cluster's resource cannot be read")?;
            generated(&preview)?;
            Ok(Side { title: format!("{name} (as it is in {context}, not generated there yet)"), text: preview.text })
        }
        Running::Nothing => {
            let place = match wanted.namespace.as_str() {
                "" => String::new(),
                namespace => format!(" in namespace \"{namespace}\""),
            };
            Err(format!("{context} has no LlamaStackDistribution \"{name}\"{place}"))
        }
    }
}

/// Only what was generated can be compared.
fn generated(preview: &Preview) -> std::result::Result<(), String> {
    if preview.hash.is_empty() { Err(preview.text.trim_start_matches("# ").trim_end().to_owned()) } else { Ok(()) }
}

fn read(uri: &Url) -> std::result::Result<String, String> {
    let path = convert::file_path(uri).ok_or_else(|| format!("{uri} is not a file on this machine"))?;
    let failed = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => format!("{} has not been saved yet", path.display()),
        _ => format!("{} cannot be read: {error}", path.display()),
    };
    if std::fs::metadata(&path).map_err(failed)?.len() > MAX_FILE {
        return Err(format!("{} is too large", path.display()));
    }
    workspace::text_of(&path, MAX_FILE)
        .ok_or_else(|| format!("{} cannot be read: it is no regular file, or no UTF-8 text", path.display()))
}
