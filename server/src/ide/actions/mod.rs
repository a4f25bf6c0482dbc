//! Changes offered at a place.

mod config_map;
mod migration;
mod secret;

use super::diagnostics::touches;
use super::types::{ActionKind, CodeAction, Diagnostic, TextEdit};
use super::{Analysis, Span, fix};
use llsd_yaml::edit;

pub use migration::MigrationOffer;
pub(crate) use migration::{edits as migration, offers as migrations};

/// Rounds of fixes at most: one fix may be what makes the next one visible.
const ROUNDS: usize = 8;

pub(crate) fn code_actions(analysis: &Analysis, span: Span) -> Vec<CodeAction> {
    let mut actions = quick_fixes(analysis, span);
    let migrations = migrations(analysis, span).into_iter();
    actions.extend(migrations.filter_map(|offer| {
        Some(CodeAction {
            edits: migration(analysis, &offer)?.edits,
            title: offer.title,
            kind: ActionKind::Rewrite,
            preferred: false,
            fixes: None,
        })
    }));
    actions
}

/// What mends the diagnostics that `span` touches.
pub(crate) fn quick_fixes(analysis: &Analysis, span: Span) -> Vec<CodeAction> {
    let mut actions = Vec::new();
    for located in analysis.touching(span) {
        for diagnostic in located.document.diagnostics() {
            let diagnostic = diagnostic.in_file(located.number, located.offset);
            if !touches(diagnostic.span, span) {
                continue;
            }
            actions.extend(beyond_the_document(analysis, &diagnostic));
            actions.extend(diagnostic.fixes.into_iter().map(|fix| CodeAction {
                title: fix.title,
                kind: ActionKind::QuickFix,
                edits: fix.edits,
                preferred: fix.preferred,
                fixes: Some((diagnostic.code, diagnostic.span)),
            }));
        }
    }
    actions
}

/// Fixes that also change other documents of the file, or add some.
fn beyond_the_document(analysis: &Analysis, diagnostic: &Diagnostic) -> Option<CodeAction> {
    let (title, edits, preferred) = match diagnostic.code {
        "llsd::secret::plain-text" => {
            let (title, edits) = secret::keep_in_secret(analysis, diagnostic)?;
            (title, edits, false)
        }
        "llsd::config::missing-key" => {
            let (title, edits) = config_map::rename_key(analysis, diagnostic)?;
            (title, edits, true)
        }
        _ => return None,
    };
    let fixes = Some((diagnostic.code, diagnostic.span));
    Some(CodeAction { title, kind: ActionKind::QuickFix, edits, preferred, fixes })
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
        let changes: Vec<_> = next.into_iter().map(|one| edit::TextEdit::new(one.span, one.new_text)).collect();
        let changed = edit::apply(&text, &changes);
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
