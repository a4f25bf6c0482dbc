//! Findings and syntax errors as places of the text.

use super::document::DocumentAnalysis;
use super::resource::Resource;
use super::types::{CodeFix, Diagnostic, Elsewhere, Unchecked};
use super::{Span, fix, form, place, silence};
use llsd_generator::check::finding::{Finding, Target};
use llsd_generator::check::judge_operations;
use llsd_generator::check::rules::distribution::MISSING;
use llsd_generator::check::rules::drafts::PROVIDER_OBJECT;
use llsd_generator::check::rules::generation::MISSING_SETTING;
use llsd_generator::check::rules::name::DUPLICATE;
use llsd_generator::check::rules::schema::{REQUIRED, UNKNOWN_FIELD};
use llsd_generator::check::rules::yaml::SYNTAX;
use llsd_generator::path::Path;
use llsd_yaml::{Document, Node, Step};
use std::sync::Arc;

/// Syntax errors shown of one document at most: nobody mends more at a time.
const SYNTAX_ERRORS: usize = 50;

/// Bytes of a message at most. Messages quote names and values; one that fills megabytes is not worth repeating.
const MESSAGE: usize = 2000;

/// All diagnostics of a document, in the order of their places, relative to it. A document without
/// resources and configs has none.
pub(crate) fn of_document(document: &DocumentAnalysis) -> Vec<Diagnostic> {
    if !document.is_relevant() {
        return Vec::new();
    }
    // of a kustomization only the patches in it are ours
    let whole = document.embedded().is_empty() && (document.operations().is_none() || document.is_part());
    let syntax = if whole { syntax(document.tree()) } else { Vec::new() };
    let mut found = Vec::new();
    for resource in document.resources() {
        document.with_findings(resource, |all| {
            // once, not once per finding: both lists grow with the document
            let drafts: Vec<&Finding> = all.iter().copied().filter(|finding| is_draft(finding)).collect();
            let explained = |one: &Finding| drafts.iter().any(|draft| one.path.starts_with(&draft.path));
            let shown = all.iter().filter(|one| !(is_structural(one) && explained(one)));
            let shown = shown.filter(|finding| !may_follow(document, resource, finding));
            let shown = shown.filter(|finding| !follows_a_break(document, resource, finding));
            found.extend(shown.map(|finding| (is_structural(finding), diagnostic(document, resource, finding))));
        });
    }
    if let (Some((operations, unknown)), Some(part)) = (document.operations(), &document.facts().part) {
        let all = judge_operations(operations, unknown, part, document.facts());
        found.extend(all.iter().map(|finding| (is_structural(finding), at(document.tree(), &Path::root(), finding))));
    }
    // what a break leaves of a value or key has the wrong type or name, which is no fault of its own
    let broken = |one: &Diagnostic| syntax.iter().any(|error| error.span.start == one.span.start);
    found.retain(|(structural, one)| !(*structural && broken(one)));
    let embedded = document.embedded().iter().flat_map(|one| one.diagnostics(document.tree()));
    let found = found.into_iter().map(|(_, one)| one).chain(syntax.iter().cloned());
    let mut found: Vec<_> = found.chain(embedded).collect();
    let (text, facts) = (document.tree().text(), document.facts());
    found.extend(document.configs().iter().flat_map(|config| config.diagnostics(text, facts)));
    found.extend(unread(document));
    silence::apply(document.tree(), &mut found, syntax.is_empty());
    found.sort_by_key(|diagnostic| (diagnostic.span.start, diagnostic.span.end));
    found
}

fn is_structural(finding: &Finding) -> bool {
    finding.rule.family() == REQUIRED.family()
}

/// Whether a finding misses something in a bracket that has no end: it may well be what comes next.
fn may_follow(document: &DocumentAnalysis, resource: &Resource, finding: &Finding) -> bool {
    if document.tree().errors().is_empty() || ![&REQUIRED, &MISSING_SETTING].contains(&finding.rule) {
        return false;
    }
    let steps = place::steps(&resource.base, &finding.path);
    let mut node = document.tree().nearest(&steps).map(|(node, _)| node);
    while let Some(inner) = node {
        if inner.is_flow() && inner.is_unclosed() {
            return true;
        }
        node = inner.parent();
    }
    false
}

/// Whether a finding says that a mapping lacks something, or has too much, and a line of that very mapping could not be
/// read: it may be what is missing, or have taken the others out of their place.
fn follows_a_break(document: &DocumentAnalysis, resource: &Resource, finding: &Finding) -> bool {
    let errors = document.tree().errors();
    if errors.is_empty() {
        return false;
    }
    let holder = match finding.rule {
        rule if [&REQUIRED, &UNKNOWN_FIELD].contains(&rule) => finding.path.parent(),
        rule if *rule == MISSING => Some(finding.path.clone()),
        _ => None,
    };
    let Some(holder) = holder else { return false };
    let node = document.tree().find(&place::steps(&resource.base, &holder));
    let Some(mapping) = node.filter(|node| node.is_mapping()) else { return false };
    // From the key on: what could not be read may have been all that stood in front.
    let inside = |at: usize, node: &Node<'_>| {
        let span = node.entry().map_or_else(|| node.full_span(), |entry| entry.span);
        (span.start..=span.end).contains(&at)
    };
    errors.iter().any(|error| {
        let at = error.span.start;
        let deeper = || mapping.children().any(|child| child.children().next().is_some() && inside(at, &child));
        inside(at, &mapping) && !deeper()
    })
}

/// A draft's finding says in one sentence what the schema says about each of its parts.
fn is_draft(finding: &Finding) -> bool {
    finding.rule.family() == PROVIDER_OBJECT.family()
}

pub(super) fn syntax(tree: &Document) -> Vec<Diagnostic> {
    let template = tree.text().contains("{{");
    // Quotes and brackets inside a template expression are none of the YAML that comes out of it.
    let mut errors: Vec<_> =
        tree.errors().iter().filter(|error| !(template && line_at(tree.text(), error.span).contains("{{"))).collect();
    // the tolerant reader forgives what a strict one does not; but no strict one reads a template
    if errors.is_empty() && !template {
        errors.extend(tree.strict_error());
    }
    // one place, one error: the first says what is wrong
    errors.dedup_by_key(|error| error.span.start);
    let faults = errors.into_iter().take(SYNTAX_ERRORS);
    faults.map(|error| Diagnostic::about_text(&SYNTAX, error.span, error.message.clone(), Vec::new())).collect()
}

/// What is YAML, but is not read by `kubectl`.
fn unread(document: &DocumentAnalysis) -> Vec<Diagnostic> {
    let tree = document.tree();
    let faults = form::faults(tree.text(), &|offset| tree.comment_at(offset).is_some());
    let dropped = document.is_dropped().then(|| form::dropped(tree.text()));
    faults
        .into_iter()
        .chain(dropped)
        .map(|fault| Diagnostic::about_text(fault.rule, fault.span, fault.message, fault.fix.into_iter().collect()))
        .collect()
}

/// What could not be decided about a document, with places relative to it.
pub(crate) fn unchecked(document: &DocumentAnalysis) -> Vec<Unchecked> {
    let tree = document.tree();
    let open = |span, rule, reason, path| Unchecked { span, rule, reason, path, document: 0 };
    if document.resources().is_empty() {
        let Some(root) = tree.root().filter(|_| document.configs().is_empty()) else { return Vec::new() };
        let kind = tree.find(&[Step::Key("kind".to_owned())]).map(|node| bounded(&node.value()));
        let reason = match kind.filter(|kind| !kind.is_empty()) {
            Some(kind) => {
                format!("a document of kind {kind} is neither a LlamaStackDistribution, an OGXServer nor a config")
            }
            None => {
                "a document without a kind is neither a LlamaStackDistribution, an OGXServer nor a config".to_owned()
            }
        };
        return vec![open(Span::new(root.span().start, root.span().start), None, reason, String::new())];
    }
    let mut all = Vec::new();
    for resource in document.resources() {
        document.with_not_checked(resource, |found| {
            all.extend(found.iter().map(|one| {
                let at = place::steps(&resource.base, &one.path);
                let span = place::span(tree, &at, Target::Value);
                open(span, Some(bounded(&one.rule)), bounded(&one.reason), one.path.to_string())
            }));
        });
    }
    all
}

/// A message of which the middle is left out if it is too long.
fn bounded(message: &str) -> String {
    if message.len() <= MESSAGE {
        return message.to_owned();
    }
    let head = (0..=MESSAGE / 2).rev().find(|at| message.is_char_boundary(*at)).unwrap_or(0);
    let tail = (message.len() - MESSAGE / 2..message.len()).find(|at| message.is_char_boundary(*at));
    format!("{}…{}", &message[..head], &message[tail.unwrap_or(message.len())..])
}

/// The line where a span begins.
fn line_at(text: &str, span: Span) -> &str {
    let start = text[..span.start].rfind('\n').map_or(0, |at| at + 1);
    let end = text[span.start..].find('\n').map_or(text.len(), |at| span.start + at);
    &text[start..end]
}

fn diagnostic(document: &DocumentAnalysis, resource: &Resource, finding: &Finding) -> Diagnostic {
    let elsewhere = elsewhere(document, resource, finding);
    Diagnostic { elsewhere, ..at(document.tree(), &resource.base, finding) }
}

/// A finding about the object at `base`.
pub(super) fn at(tree: &Document, base: &Path, finding: &Finding) -> Diagnostic {
    let at = |path| place::steps(base, path);
    Diagnostic {
        span: place::span(tree, &at(&finding.path), finding.target),
        severity: finding.severity,
        code: finding.rule.id,
        message: bounded(&finding.message),
        tags: finding.tags.clone(),
        related: finding
            .related
            .iter()
            .map(|other| (place::span(tree, &at(&other.path), finding.target), bounded(&other.message)))
            .collect(),
        elsewhere: None,
        fixes: finding
            .fixes
            .iter()
            .filter_map(|offered| {
                Some(CodeFix {
                    title: bounded(&offered.title),
                    edits: fix::text_edits(tree, base, &offered.edits)?,
                    preferred: offered.preferred,
                })
            })
            .collect(),
        api_server_message: finding.api_server_message.as_deref().map(bounded),
        path: finding.path.to_string(),
        document: 0,
    }
}

/// The other resource of a name that is taken twice.
fn elsewhere(document: &DocumentAnalysis, resource: &Resource, finding: &Finding) -> Option<Elsewhere> {
    if *finding.rule != DUPLICATE {
        return None;
    }
    let key = (resource.namespace().to_owned(), resource.name().to_owned());
    let namesake = document.facts().namesakes.get(&key);
    let file = namesake.map(|other| Arc::from(other.file.as_str()));
    Some(Elsewhere { file, resource: key, message: "The other resource of this name" })
}

impl Diagnostic {
    /// The same diagnostic of document number `document`, which starts at `offset` of its file.
    pub(crate) fn in_file(&self, document: usize, offset: usize) -> Self {
        let mut moved = self.clone();
        moved.document = document;
        moved.span = moved.span.shift(offset);
        for (span, _) in &mut moved.related {
            *span = span.shift(offset);
        }
        for edit in moved.fixes.iter_mut().flat_map(|fix| &mut fix.edits) {
            edit.span = edit.span.shift(offset);
        }
        moved
    }
}

/// Whether two spans share a byte or touch.
pub(crate) fn touches(one: Span, other: Span) -> bool {
    one.start <= other.end && other.start <= one.end
}
