//! From a changed document to diagnostics on the screen: one worker per document that has work.

use super::backend::Shared;
use super::guard::message;
use super::{convert, files};
use crate::documents::Snapshot;
use crate::ide::{Analysis, Diagnostic, Severity, Tag};
use crate::schedule::Cancel;
use crate::session::Affected;
use llsd_generator::check::rules;
use ropey::Rope;
use std::sync::Arc;
use tower_lsp::lsp_types::{
    self as lsp, CodeDescription, DiagnosticRelatedInformation, DiagnosticSeverity, DiagnosticTag, Location,
    NumberOrString, Url,
};

/// Starts a worker for each name.
pub(super) fn start(shared: &Arc<Shared>, names: impl IntoIterator<Item = Arc<str>>) {
    for name in names {
        tokio::spawn(work(Arc::clone(shared), name));
    }
}

/// Analyses the newest version until there is no newer one.
async fn work(shared: Arc<Shared>, name: Arc<str>) {
    while let Some((snapshot, cancel)) = shared.session.begin(&name) {
        let job = {
            let (shared, snapshot) = (Arc::clone(&shared), Arc::clone(&snapshot));
            move || look(&shared, &snapshot, &cancel)
        };
        match tokio::task::spawn_blocking(job).await {
            Ok(Some(Seen { relevant, diagnostics, affected })) => {
                start(&shared, affected.documents);
                files::affected(&shared, &affected.names);
                if let Some(diagnostics) = diagnostics {
                    publish(&shared, &snapshot, relevant, diagnostics).await;
                }
            }
            Ok(None) => {}
            Err(error) => log(&name, error),
        }
        if !shared.session.finish(&name) {
            break;
        }
    }
}

struct Seen {
    relevant: bool,
    /// None: outdated meanwhile.
    diagnostics: Option<Vec<lsp::Diagnostic>>,
    affected: Affected,
}

/// The part that takes CPU time. None: outdated meanwhile.
fn look(shared: &Shared, snapshot: &Arc<Snapshot>, cancel: &Cancel) -> Option<Seen> {
    let stop = || cancel.is_cancelled();
    let analysis = shared.analysis(snapshot, &stop)?;
    let affected = shared.session.learn(snapshot, &analysis);
    shared.names.learn(&snapshot.name, &analysis);
    let diagnostics = analysis.diagnostics_until(&stop);
    // What others have to do has to be told in any case.
    let diagnostics =
        (!stop()).then(|| converted(shared, (&snapshot.name, &snapshot.uri), &snapshot.rope, diagnostics));
    Some(Seen { relevant: analysis.is_relevant(), diagnostics, affected })
}

/// Sends the diagnostics, unless the document changed or the client asks for them itself. Nothing is ever sent for a
/// file that never had anything to do with this server.
async fn publish(shared: &Shared, snapshot: &Arc<Snapshot>, relevant: bool, diagnostics: Vec<lsp::Diagnostic>) {
    if shared.client_capabilities().pulls || !shared.session.is_current(snapshot) {
        return;
    }
    if !shared.mark_published(&snapshot.name, relevant) && !relevant {
        return;
    }
    if let Ok(uri) = Url::parse(&snapshot.uri) {
        shared.client.publish_diagnostics(uri, diagnostics, Some(snapshot.version)).await;
    }
}

/// The diagnostics of one version in the protocol's terms.
pub(super) fn diagnostics(shared: &Shared, snapshot: &Snapshot, analysis: &Analysis) -> Vec<lsp::Diagnostic> {
    converted(shared, (&snapshot.name, &snapshot.uri), &snapshot.rope, analysis.diagnostics())
}

/// Diagnostics in the protocol's terms, as the settings want them. The document is given by its name and its URI.
pub(super) fn converted(
    shared: &Shared,
    (name, uri): (&str, &str),
    rope: &Rope,
    found: Vec<Diagnostic>,
) -> Vec<lsp::Diagnostic> {
    let Ok(uri) = Url::parse(uri) else { return Vec::new() };
    let settings = shared.configuration.of(name);
    if shared.configuration.excludes(name) {
        return Vec::new();
    }
    let capabilities = shared.client_capabilities();
    let place = |span| convert::range(rope, span, capabilities.encoding);
    let convert = |found: Diagnostic| {
        let severity = settings.severity(found.code, found.severity)?;
        let related = found.related.into_iter().map(|(span, message)| DiagnosticRelatedInformation {
            location: Location { uri: uri.clone(), range: place(span) },
            message,
        });
        let related: Vec<_> = if capabilities.related { related.collect() } else { Vec::new() };
        let tags: Vec<_> = found.tags.iter().map(tag).collect();
        Some(lsp::Diagnostic {
            range: place(found.span),
            severity: Some(level(severity)),
            code: Some(NumberOrString::String(found.code.to_owned())),
            code_description: documentation(found.code).map(|href| CodeDescription { href }),
            source: Some("llsd".to_owned()),
            message: found.message,
            related_information: (!related.is_empty()).then_some(related),
            tags: (!tags.is_empty()).then_some(tags),
            ..lsp::Diagnostic::default()
        })
    };
    found.into_iter().filter_map(convert).collect()
}

/// The section about a rule in the reference of findings. Rules of a schema have none: their message says it all.
pub(super) fn documentation(code: &str) -> Option<Url> {
    rules().iter().find(|rule| rule.id == code)?;
    let anchor = code.replace(':', "");
    Url::parse(&format!("{}/blob/main/docs/findings.md#{anchor}", env!("CARGO_PKG_REPOSITORY"))).ok()
}

fn level(severity: Severity) -> DiagnosticSeverity {
    match severity {
        Severity::Error => DiagnosticSeverity::ERROR,
        Severity::Warning => DiagnosticSeverity::WARNING,
        Severity::Information => DiagnosticSeverity::INFORMATION,
        Severity::Hint => DiagnosticSeverity::HINT,
    }
}

fn tag(tag: &Tag) -> DiagnosticTag {
    match tag {
        Tag::Deprecated => DiagnosticTag::DEPRECATED,
        Tag::Unnecessary => DiagnosticTag::UNNECESSARY,
    }
}

fn log(name: &str, error: tokio::task::JoinError) {
    if let Ok(panic) = error.try_into_panic() {
        tracing::error!(document = name, panic = message(panic.as_ref()), "an analysis panicked");
    }
}
