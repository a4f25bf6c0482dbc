//! JSON 6902 operations: their names, and what could be written at the place of the resource that the path leads to.

use super::offer::Offer;
use super::{Context, placed, starts_line};
use crate::ide::Analysis;
use crate::ide::document::{DocumentAnalysis, Resource};
use crate::ide::schema;
use crate::ide::types::CompletionKind;
use llsd_generator::kustomize::Pointer;
use llsd_generator::path::Path;
use llsd_yaml::Step;
use llsd_yaml::cursor::{Cursor, CursorPlace};
use serde_json::{Value, json};

/// What an operation can do: RFC 6902, section 4.
const NAMES: [(&str, &str); 6] = [
    ("add", "puts a value into a mapping or list"),
    ("replace", "puts a value in place of another"),
    ("remove", "takes a value away"),
    ("move", "takes a value away and puts it elsewhere"),
    ("copy", "puts a value elsewhere, too"),
    ("test", "fails where the value is another one"),
];

/// Offers in a list of operations that changes a resource of ours; `None` where a document is none.
pub(super) fn offers(analysis: &Analysis, document: &DocumentAnalysis, cursor: &Cursor) -> Option<Vec<Offer>> {
    let (operations, _) = document.operations()?;
    let part = document.facts().part.as_ref()?;
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
    let Some(version) = part.version.filter(|_| field == "value") else { return Some(Vec::new()) };
    let operation = operations.iter().nth(*number);
    let path = operation.and_then(|operation| operation.get("path")).and_then(Value::as_str);
    let Some(pointer) = path.and_then(Pointer::parse) else { return Some(Vec::new()) };
    let whole = part.wholes.first();
    let target = whole.and_then(|whole| pointer.path_in(&whole.after)).unwrap_or_else(|| pointer.path());
    let changed = whole.map_or_else(|| json!({}), |whole| whole.after.clone());
    let resource = Resource::changed(version, changed, document.facts());
    let context = Context {
        analysis,
        resource: &resource,
        tree: document.tree(),
        at: cursor.replace,
        starts_line: starts_line(document.tree().text(), cursor),
        schema: schema::of(version),
    };
    let in_resource = |steps: &[Step]| -> Option<Path> {
        let [Step::Index(_), Step::Key(_), below @ ..] = steps else { return None };
        Some(target.join(&crate::ide::place::path(below)))
    };
    Some(placed(&context, cursor, &in_resource))
}

/// The fields of an operation that it does not have yet.
fn fields(existing: &[String]) -> Vec<Offer> {
    let missing = ["op", "path", "value"].into_iter().filter(|name| !existing.iter().any(|key| key == name));
    missing.map(|name| Offer::key(name, vec![format!("{name}: $1")])).collect()
}
