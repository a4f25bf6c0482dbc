//! The one walk over an object and its CRD's schema, in the API server's order: unknown fields, defaults and dropped
//! nulls, structure, and then, unless the structure is broken, CEL rules.

mod embedded;
mod fault;
pub(crate) mod format;
mod lists;
mod nearest;
pub(crate) mod pattern;
mod place;
mod prepare;
mod structure;
pub(crate) mod text;

pub(crate) use lists::{child_path, same_item};
pub(crate) use place::Place;

pub use super::NotChecked;
use super::finding::Finding;
use super::schema::CompiledSchema;
use crate::path::Path;
use serde_json::Value;
use std::collections::BTreeSet;

pub(crate) const UNKNOWN_FIELD: &str = "llsd::schema::unknown-field";

/// Objects nested deeper than this are not checked. Real ones stay below 30.
const MAX_DEPTH: usize = 200;

/// What schema and rules say about one object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdict {
    /// What the API server would refuse, in its order.
    pub findings: Vec<Finding>,
    /// Rules that could not be decided: neither passed nor failed.
    pub not_checked: Vec<NotChecked>,
    /// The object as the rules see it: with defaults, without dropped nulls and unknown fields.
    pub defaulted: Value,
}

/// Checks a whole object against its CRD's schema, as the API server does with strict field validation. `old` is the
/// object that it replaces, if any: rules about changes need it, and what was wrong before and has not changed is not
/// held against the new object. What lies at or below an `unknown` path is open (a template fills it in): it is not
/// checked, and rules that depend on it are reported as not checked.
#[must_use]
pub fn validate(schema: &CompiledSchema, value: &Value, old: Option<&Value>, unknown: &BTreeSet<Path>) -> Verdict {
    let schema = &schema.root;
    if too_deep(value) || old.is_some_and(too_deep) {
        let reason = format!("the object is nested more than {MAX_DEPTH} levels deep");
        let not_checked = NotChecked { path: Path::root(), rule: "llsd::schema".to_owned(), reason };
        return Verdict { not_checked: vec![not_checked], ..Verdict::default() };
    }
    let mut verdict = Verdict { defaulted: value.clone(), ..Verdict::default() };
    let mut place = Place::root(unknown);
    prepare::complete(schema, &mut verdict.defaulted, &mut place);
    prepare::prune(schema, &mut verdict.defaulted, &mut place, &mut verdict.findings);
    prepare::keep_free_names(value, &mut verdict.findings);
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
    verdict.findings.extend(outcome.faults.into_iter().map(|fault| fault.finding));
    if !blocked {
        super::cel::check(schema, value, old.as_ref(), &mut place, &mut verdict.findings, &mut verdict.not_checked);
    }
    verdict
}

/// An object as it is read back from storage.
fn stored(schema: &super::schema::Schema, old: &Value) -> Value {
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
