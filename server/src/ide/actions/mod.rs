//! Changes offered at a place.

mod config_map;
mod key;
mod migration;
mod objects;
mod offer;
mod secret;
mod successor;

use super::diagnostics::touches;
use super::names::Query;
use super::types::{ActionKind, CodeAction, Diagnostic, TextEdit};
use super::{Analysis, Span, fix};
use llsd_generator::check::rules::config_key::MISSING_KEY;
use llsd_generator::check::rules::plain_secret::PLAIN_TEXT;
use llsd_generator::check::rules::references::NO_KEY;
use llsd_yaml::edit;

pub(crate) use migration::{edits as migration, offers as migrations};
use objects::Changes;
pub use offer::{MigrationOffer, MigrationTarget};

/// Rounds of fixes at most: one fix may be what makes the next one visible.
const ROUNDS: usize = 8;

pub(crate) fn code_actions(query: &Query<'_>, span: Span) -> Vec<CodeAction> {
    let mut actions = quick_fixes(query, span);
    let migrations = migrations(query, span).into_iter();
    actions.extend(migrations.filter_map(|offer| {
        let migrated = migration(query, &offer).ok()?;
        Some(CodeAction {
            edits: migrated.edits,
            others: migrated.others,
            deletes: migrated.deletes,
            title: offer.title,
            kind: ActionKind::Rewrite,
            preferred: false,
            fixes: None,
        })
    }));
    actions
}

/// What mends the diagnostics that `span` touches.
pub(crate) fn quick_fixes(query: &Query<'_>, span: Span) -> Vec<CodeAction> {
    let Some(analysis) = query.analysis else { return Vec::new() };
    let mut actions = Vec::new();
    for located in analysis.touching(span) {
        for diagnostic in located.document.diagnostics() {
            let diagnostic = diagnostic.in_file(located.number, located.offset);
            if !touches(diagnostic.span, span) {
                continue;
            }
            let beyond = beyond_the_document(query, &diagnostic);
            // a slip of the pen is likelier than a key that is still to come
            let (first, last) = if diagnostic.code == NO_KEY.id { (Vec::new(), beyond) } else { (beyond, Vec::new()) };
            actions.extend(first);
            actions.extend(diagnostic.fixes.into_iter().map(|fix| CodeAction {
                title: fix.title,
                kind: ActionKind::QuickFix,
                edits: fix.edits,
                others: Vec::new(),
                deletes: None,
                preferred: fix.preferred,
                fixes: Some((diagnostic.code, diagnostic.span)),
            }));
            actions.extend(last);
        }
    }
    actions
}

/// Fixes that also change other documents, of this file or another one, or add some.
fn beyond_the_document(query: &Query<'_>, diagnostic: &Diagnostic) -> Vec<CodeAction> {
    let mut found: Vec<(String, Changes)> = Vec::new();
    // Of older operators the key may be the right one.
    let preferred = diagnostic.code == MISSING_KEY.id && diagnostic.severity == super::Severity::Error;
    match diagnostic.code {
        code if code == PLAIN_TEXT.id => {
            found.extend(secret::keep_in_known(query, diagnostic));
            let new = query.analysis.and_then(|analysis| secret::keep_in_secret(analysis, diagnostic));
            found.extend(new.map(|(title, own)| (title, Changes { own, ..Changes::default() })));
        }
        code if code == MISSING_KEY.id => found.extend(config_map::rename_key(query, diagnostic)),
        code if code == NO_KEY.id => found.extend(key::add(query, diagnostic)),
        _ => {}
    }
    let action = |(title, Changes { own, others }): (String, Changes)| CodeAction {
        title,
        kind: ActionKind::QuickFix,
        edits: own,
        others,
        deletes: None,
        preferred,
        fixes: Some((diagnostic.code, diagnostic.span)),
    };
    found.into_iter().map(action).collect()
}

/// The changes of other files that `llsd fix` makes without asking.
pub(crate) fn preferred_elsewhere(query: &Query<'_>) -> Vec<CodeAction> {
    let all = query.analysis.map(super::Analysis::diagnostics).unwrap_or_default();
    let wanted = all.iter().filter(|diagnostic| diagnostic.code == MISSING_KEY.id);
    wanted.flat_map(|diagnostic| beyond_the_document(query, diagnostic)).filter(|action| action.preferred).collect()
}

/// All preferred fixes of the file, and those that become visible behind them. A round that would add an error is left
/// out.
pub(crate) fn fix_everything(analysis: &Analysis) -> Vec<TextEdit> {
    let first = fix::all(&analysis.diagnostics());
    if first.is_empty() {
        return first;
    }
    let old = analysis.text();
    let (mut text, mut known) = (old.to_string(), analysis.clone());
    let mut next = first.clone();
    let mut rounds = 0;
    while !next.is_empty() && rounds < ROUNDS {
        let changed = edit::apply(&text, &next);
        let after = super::analyse(changed.as_str().into(), Some(&known), &analysis.workspace);
        if changed == text || errors(&after) > errors(&known) {
            break;
        }
        (text, known) = (changed, after);
        next = fix::all(&known.diagnostics());
        rounds += 1;
    }
    match rounds {
        0 => Vec::new(),
        1 => first,
        _ => fix::difference(&old, &text),
    }
}

fn errors(analysis: &Analysis) -> usize {
    analysis.diagnostics().iter().filter(|found| found.severity == super::Severity::Error).count()
}
