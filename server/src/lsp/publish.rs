//! From a changed document to diagnostics on the screen: one worker per document that has work.

use super::backend::Shared;
use super::convert::{self, Encoding};
use super::guard::message;
use super::outgoing::Outgoing;
use super::{builds, computing, configuration, diagnostics_json, files};
use crate::documents::Snapshot;
use crate::ide::{Analysis, Diagnostic, Elsewhere, Severity, Stop, Tag};
use crate::schedule::Cancel;
use crate::session::Affected;
use crate::settings::Settings;
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
        tokio::spawn(run_worker(Arc::clone(shared), name));
    }
}

/// Analyses the newest version until there is no newer one.
async fn run_worker(shared: Arc<Shared>, name: Arc<str>) {
    while let Some((snapshot, cancel)) = shared.session.begin(&name) {
        let job = {
            let (shared, snapshot) = (Arc::clone(&shared), Arc::clone(&snapshot));
            move || analyse_and_publish(&shared, &snapshot, &cancel)
        };
        match computing::spawn(job).await {
            Ok(Some(affected)) => {
                // A file may be the first of its project.
                configuration::report_problems(&shared);
                start(&shared, affected.documents);
                files::affected(&shared, &affected.names);
            }
            Ok(None) => {}
            Err(error) => log(&name, error),
        }
        if !shared.session.finish(&name) {
            break;
        }
    }
}

/// The part that takes CPU time. None: outdated before others could have to do something.
fn analyse_and_publish(shared: &Shared, snapshot: &Arc<Snapshot>, cancel: &Cancel) -> Option<Affected> {
    let stop = || cancel.is_cancelled();
    let analysis = shared.analysis(snapshot, &stop)?;
    analysis.judge_ahead(&stop);
    let affected = shared.session.learn(snapshot, &analysis);
    shared.names.learn(&snapshot.name, &analysis);
    publish(shared, snapshot, &analysis, &stop);
    // Other documents may have to be analysed again, whether or not these diagnostics were sent.
    Some(affected)
}

/// Sends the diagnostics, unless the document changed or the client asks for them itself. Nothing is ever sent for a
/// file that never had anything to do with this server.
fn publish(shared: &Shared, snapshot: &Arc<Snapshot>, analysis: &Analysis, stop: Stop<'_>) {
    if shared.client_capabilities().pulls {
        return;
    }
    let style = DiagnosticStyle::of(shared, &snapshot.name, &snapshot.uri);
    let more = beyond(shared, snapshot, analysis);
    let relevant = analysis.is_relevant() || !more.is_empty();
    let more = converted(&style, &snapshot.rope, more);
    let list = |out: &mut Vec<u8>| {
        diagnostics_json::list(analysis, &snapshot.rope, &style, out, stop)?;
        diagnostics_json::append(&more, out);
        Some(())
    };
    let Some(text) = Outgoing::diagnostics(&snapshot.uri, Some(snapshot.version), list) else { return };
    // No newer version can come between the look and the sending.
    shared.session.if_current(snapshot, || {
        if shared.mark_published(&snapshot.name, relevant) || relevant {
            shared.outgoing.text(text);
        }
    });
}

/// Takes the diagnostics of a document off the screen that were told under a spelling of its name which is not used from
/// now on: clients do not know that two spellings are the same.
pub(super) fn withdraw(shared: &Shared, name: &Arc<str>, uri: &str) {
    if !shared.client_capabilities().pulls && shared.mark_published(name, false) {
        let nothing = |out: &mut Vec<u8>| {
            out.extend_from_slice(b"[]");
            Some(())
        };
        Outgoing::diagnostics(uri, None, nothing).into_iter().for_each(|text| shared.outgoing.text(text));
    }
}

/// What diagnostics look like to a client, beside what they say.
#[derive(Debug)]
pub(super) struct DiagnosticStyle<'a> {
    /// The URI of the document.
    pub(super) uri: &'a str,
    /// The settings in force for it.
    pub(super) settings: Arc<Settings>,
    /// Whether the settings say that it is left alone.
    pub(super) excluded: bool,
    /// The unit in which the client counts positions.
    pub(super) encoding: Encoding,
    /// Whether the client takes other places that belong to a diagnostic.
    pub(super) related: bool,
    /// Who knows the other files.
    pub(super) shared: Option<&'a Shared>,
}

impl<'a> DiagnosticStyle<'a> {
    /// That of a document, given by its name and its URI.
    pub(super) fn of(shared: &'a Shared, name: &str, uri: &'a str) -> Self {
        let client = shared.client_capabilities();
        Self {
            uri,
            settings: shared.configuration.of(name),
            excluded: shared.configuration.excludes(name),
            encoding: client.encoding,
            related: client.related,
            shared: Some(shared),
        }
    }

    /// Where a resource of another file stands.
    pub(super) fn elsewhere(&self, other: &Elsewhere) -> Option<Location> {
        let (shared, file) = (self.shared?, other.file.as_deref()?);
        let range = match shared.session.snapshot(file) {
            Some(open) => {
                let span = open.locate(|known| known.named_at(&other.resource, None))?;
                convert::range(&open.rope, span, self.encoding)
            }
            None => shared.files.place(file, &other.resource)?,
        };
        Some(Location { uri: shared.uri(file)?, range })
    }
}

/// The diagnostics of one version in the protocol's terms.
pub(super) fn diagnostics(shared: &Shared, snapshot: &Snapshot, analysis: &Analysis) -> Vec<lsp::Diagnostic> {
    let mut found = analysis.diagnostics();
    found.extend(beyond(shared, snapshot, analysis));
    converted(&DiagnosticStyle::of(shared, &snapshot.name, &snapshot.uri), &snapshot.rope, found)
}

/// What builds found in one version beyond its own diagnostics.
fn beyond(shared: &Shared, snapshot: &Snapshot, analysis: &Analysis) -> Vec<Diagnostic> {
    builds::beyond(shared, &snapshot.name, &snapshot.rope, || analysis.diagnostics())
}

/// Diagnostics in the protocol's terms, as the settings want them.
pub(super) fn converted(style: &DiagnosticStyle<'_>, rope: &Rope, found: Vec<Diagnostic>) -> Vec<lsp::Diagnostic> {
    let Some(uri) = Url::parse(style.uri).ok().filter(|_| !style.excluded) else { return Vec::new() };
    let place = |span| convert::range(rope, span, style.encoding);
    let convert = |found: Diagnostic| {
        let severity = style.settings.severity.of(found.code, found.severity)?;
        let related = found.related.into_iter().map(|(span, message)| DiagnosticRelatedInformation {
            location: Location { uri: uri.clone(), range: place(span) },
            message,
        });
        let elsewhere = found.elsewhere.as_ref().and_then(|other| {
            let location = style.elsewhere(other)?;
            Some(DiagnosticRelatedInformation { location, message: other.message.to_owned() })
        });
        let related: Vec<_> = if style.related { related.chain(elsewhere).collect() } else { Vec::new() };
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

/// The section about a rule in the reference of findings.
pub(super) fn documentation(code: &str) -> Option<Url> {
    Url::parse(&rules::find(code)?.documentation()).ok()
}

/// The protocol's number of a severity.
pub(super) fn level(severity: Severity) -> DiagnosticSeverity {
    match severity {
        Severity::Error => DiagnosticSeverity::ERROR,
        Severity::Warning => DiagnosticSeverity::WARNING,
        Severity::Information => DiagnosticSeverity::INFORMATION,
        Severity::Hint => DiagnosticSeverity::HINT,
    }
}

/// The protocol's number of a tag.
pub(super) fn tag(tag: &Tag) -> DiagnosticTag {
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
