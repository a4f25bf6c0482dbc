//! JSON 6902 operations: their names, and what could be written at the place of the resource that the path leads to.

use super::offer::Offer;
use super::{Context, placed, starts_line};
use crate::ide::Analysis;
use crate::ide::document::DocumentAnalysis;
use crate::ide::operation::{NAMES, Target};
use crate::ide::schema;
use crate::ide::types::CompletionKind;
use llsd_yaml::Step;
use llsd_yaml::cursor::{Cursor, CursorPlace};

/// Offers in a list of operations that changes a resource of ours; `None` where a document is none.
pub(super) fn offers(analysis: &Analysis, document: &DocumentAnalysis, cursor: &Cursor) -> Option<Vec<Offer>> {
    document.operations()?;
    document.facts().part.as_ref()?;
    let steps = match &cursor.place {
        CursorPlace::Value { path } | CursorPlace::Item { path } => path,
        CursorPlace::Key { .. } | CursorPlace::Comment | CursorPlace::None => &cursor.container,
    };
    let [Step::Index(number), Step::Key(field), ..] = steps.as_slice() else {
        return Some(match &cursor.place {
            CursorPlace::Key { existing } => fields(existing),
            CursorPlace::Item { .. } => fields(&[]),
            _ => Vec::new(),
        });
    };
    if field == "op" && steps.len() == 2 {
        return Some(NAMES.map(|(name, does)| Offer::value(name, CompletionKind::Enum).detail(does)).to_vec());
    }
    let Some(target) = Target::of(document, *number).filter(|_| field == "value") else { return Some(Vec::new()) };
    let context = Context {
        analysis,
        resource: &target.resource,
        tree: document.tree(),
        at: cursor.replace,
        starts_line: starts_line(document.tree().text(), cursor),
        schema: schema::of(target.resource.version),
    };
    Some(placed(&context, cursor, &|steps| target.inside(steps)))
}

/// The fields of an operation that it does not have yet.
fn fields(existing: &[String]) -> Vec<Offer> {
    let missing = ["op", "path", "value"].into_iter().filter(|name| !existing.iter().any(|key| key == name));
    missing.map(|name| Offer::key(name, vec![format!("{name}: $1")])).collect()
}
