//! The one walk over an object and its CRD's schema, in the API server's order: unknown fields, defaults and dropped
//! nulls, structure, and then, unless the structure is broken, CEL rules.

mod embedded;
pub(crate) mod format;
mod lists;
pub(crate) mod pattern;
mod place;
mod prepare;
mod structure;
pub(crate) mod text;

pub(crate) use lists::{OldItems, child_path};
pub(crate) use place::Place;

use crate::path::Path;
use crate::schema::Schema;
use crate::verdict::{Check, NotChecked, Reason, Verdict};
use serde_json::Value;
use std::collections::BTreeSet;

/// Objects nested deeper than this are not checked. Real ones stay below 30.
pub const MAX_DEPTH: usize = 200;

/// Checks a whole object. The meaning of the arguments is that of [`crate::CompiledSchema::validate_partly_known`].
pub(crate) fn validate(schema: &Schema, value: &Value, old: Option<&Value>, unknown: &BTreeSet<Path>) -> Verdict {
    if too_deep(value) || old.is_some_and(too_deep) {
        let not_checked = NotChecked { path: Path::root(), check: Check::Object, reason: Reason::TooDeep };
        return Verdict { not_checked: vec![not_checked], ..Verdict::default() };
    }
    let mut verdict = Verdict { defaulted: value.clone(), ..Verdict::default() };
    let mut place = Place::root(unknown);
    prepare::complete(schema, &mut verdict.defaulted, &mut place);
    prepare::prune(schema, &mut verdict.defaulted, &mut place, &mut verdict.faults);
    prepare::keep_free_names(value, &mut verdict.faults);
    prepare::complete_name(&mut verdict.defaulted, &place);
    let old = old.map(|old| stored(schema, old));
    let value = &verdict.defaulted;

    let mut outcome = structure::check(schema, value, old.as_ref(), &mut place);
    embedded::check(schema, value, &mut place, "", &mut outcome.faults);
    let mut repeated = Vec::new();
    lists::check(schema, value, &mut place, "", &mut repeated);
    if !repeated.is_empty() {
        let mut before = Vec::new();
        if let Some(old) = &old {
            lists::check(schema, old, &mut Place::root(&BTreeSet::new()), "", &mut before);
        }
        if before.is_empty() {
            outcome.faults.append(&mut repeated);
        }
    }
    verdict.not_checked = outcome.not_checked;
    let blocked = outcome.faults.iter().any(|fault| fault.blocks_rules);
    verdict.faults.append(&mut outcome.faults);
    if !blocked {
        crate::cel::check(schema, value, old.as_ref(), &mut place, &mut verdict.faults, &mut verdict.not_checked);
    }
    verdict
}

/// An object as it is read back from storage.
fn stored(schema: &Schema, old: &Value) -> Value {
    let nothing = BTreeSet::new();
    let mut place = Place::root(&nothing);
    let mut old = old.clone();
    prepare::complete(schema, &mut old, &mut place);
    prepare::prune(schema, &mut old, &mut place, &mut Vec::new());
    old
}

fn too_deep(value: &Value) -> bool {
    let mut open = vec![(value, 1)];
    while let Some((value, depth)) = open.pop() {
        if depth > MAX_DEPTH {
            return true;
        }
        match value {
            Value::Array(items) => open.extend(items.iter().filter(|v| nests(v)).map(|item| (item, depth + 1))),
            Value::Object(map) => open.extend(map.values().filter(|v| nests(v)).map(|item| (item, depth + 1))),
            _ => {}
        }
    }
    false
}

fn nests(value: &Value) -> bool {
    value.is_array() || value.is_object()
}
