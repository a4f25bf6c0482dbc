//! Changes offered at a place.

use super::diagnostics::touches;
use super::types::{ActionKind, CodeAction, TextEdit};
use super::{Analysis, Span, migrate, place};
use llsd_generator::api::ApiVersion;

pub(crate) fn code_actions(analysis: &Analysis, span: Span) -> Vec<CodeAction> {
    let mut actions = Vec::new();
    for located in analysis.documents() {
        let number = located.number;
        let here = Span::new(located.offset, located.offset + located.document.tree().text().len());
        if !touches(here, span) {
            continue;
        }
        for diagnostic in located.document.diagnostics() {
            let diagnostic = diagnostic.in_file(number, located.offset);
            if !touches(diagnostic.span, span) {
                continue;
            }
            actions.extend(diagnostic.fixes.into_iter().map(|fix| CodeAction {
                title: fix.title,
                kind: ActionKind::QuickFix,
                edits: fix.edits,
                preferred: fix.preferred,
                fixes: Some((diagnostic.code, diagnostic.span)),
            }));
        }
        actions.extend(migrations(analysis, number, span));
    }
    actions
}

/// The rewrite of a v1alpha1 resource that the span lies in.
fn migrations(analysis: &Analysis, number: usize, span: Span) -> Option<CodeAction> {
    let located = analysis.document(number)?;
    let relative = Span::new(span.start.saturating_sub(located.offset), span.end.saturating_sub(located.offset));
    let resource = located.document.resources().iter().find(|resource| {
        resource.version == ApiVersion::V1Alpha1
            && located
                .document
                .tree()
                .find(&place::steps(&resource.base, &Default::default()))
                .is_some_and(|root| resource.base.segments().is_empty() || touches(root.span(), relative))
    })?;
    let migrated = migrate::migrate(located.document, resource)?;
    let edits = migrated
        .edits
        .into_iter()
        .map(|edit| TextEdit { span: edit.span.shift(located.offset), new_text: edit.new_text })
        .collect();
    Some(CodeAction {
        title: "Migrate to v1alpha2".to_owned(),
        kind: ActionKind::Rewrite,
        edits,
        preferred: false,
        fixes: None,
    })
}
