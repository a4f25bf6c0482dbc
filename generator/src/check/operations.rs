//! The verdict on JSON 6902 operations: what they write is judged by the schema at its place, and by what becomes of the
//! resources that they are known to change.

use super::finding::Finding;
use super::part::Part;
use super::rules::kustomize::OPERATION;
use super::rules::schema::UNKNOWN_FIELD;
use super::{Facts, Request, schema, verdict};
use crate::api::{ApiVersion, crd};
use crate::kustomize::{Operations, Pointer, written};
use crate::path::{Path, Segment};
use crd_validator::CompiledSchema;
use serde_json::Value;
use std::collections::BTreeSet;

/// The fields that every object has, whatever its schema says of them.
const META_FIELDS: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// The values of `op` that RFC 6902 defines, section 4.
const NAMES: [&str; 6] = ["add", "remove", "replace", "move", "copy", "test"];

/// Judges a list of operations. Places lead into the list: `[0].value`.
#[must_use]
pub fn judge_operations(operations: &Operations, unknown: &BTreeSet<Path>, part: &Part, facts: &Facts) -> Vec<Finding> {
    let Some(version) = part.version else { return Vec::new() };
    let mut found = Vec::new();
    for (number, operation) in operations.iter().enumerate() {
        judge_one(version, number, operation, unknown, &mut found);
    }
    let facts = Facts { part: None, ..facts.clone() };
    for whole in &part.wholes {
        let judge = |value| verdict(&Request { version, value, old: None, unknown: &whole.unknown, facts: &facts });
        let before = judge(&whole.before).findings;
        for finding in judge(&whole.after).findings {
            let same = |known: &Finding| known.rule == finding.rule && known.path == finding.path;
            if before.iter().any(same) {
                continue;
            }
            // what several operations write is the fault of the last one
            let writer = operations.writer(&whole.after, &finding.path);
            // that there is no such field has been said of the path
            let said = |path: &Path, known: &Finding| {
                known.rule == finding.rule && (known.path == *path || known.path.parent() == path.parent())
            };
            if let Some(path) = writer
                && !found.iter().any(|known| said(&path, known))
            {
                // its fixes change the resource, which stands elsewhere
                found.push(Finding { path, fixes: Vec::new(), related: Vec::new(), ..finding });
            }
        }
    }
    found
}

/// What can be told of an operation without its resource.
fn judge_one(
    version: ApiVersion,
    number: usize,
    operation: &Value,
    unknown: &BTreeSet<Path>,
    found: &mut Vec<Finding>,
) {
    let at = Path::root().index(number);
    if let Some(name) = operation.get("op").and_then(Value::as_str).filter(|_| !unknown.contains(&at.key("op")))
        && !NAMES.contains(&name)
    {
        let message = format!("Unknown operation \"{name}\": it is one of {}", NAMES.join(", "));
        found.push(Finding::new(&OPERATION, at.key("op"), message));
    }
    let Some(path) = operation.get("path").and_then(Value::as_str).filter(|_| !unknown.contains(&at.key("path")))
    else {
        return;
    };
    let Some(pointer) = Pointer::parse(path) else {
        let message = format!("\"{path}\" is no JSON pointer: it begins with a slash, as in /spec/workload/replicas");
        found.push(Finding::new(&OPERATION, at.key("path"), message));
        return;
    };
    let path = pointer.path();
    if let Some(Segment::Key(first)) = path.segments().first()
        && META_FIELDS.contains(&first.as_str())
    {
        return;
    }
    let Some(here) = crd::schema_at(version, &path) else {
        if let Some(name) = first_unknown(version, &path) {
            let message = format!("unknown field \"{name}\" in {pointer}");
            found.push(Finding::new(&UNKNOWN_FIELD, at.key("path"), message));
        }
        return;
    };
    if written(operation).is_none() {
        return;
    }
    let value_at = at.key("value");
    let Some(value) = operation.get("value") else { return };
    let inside: BTreeSet<Path> = unknown
        .iter()
        .filter_map(|path| path.segments().strip_prefix(value_at.segments()))
        .map(|below| below.iter().cloned().collect())
        .collect();
    let verdict = CompiledSchema::new(here).validate_partly_known(value, None, &inside);
    for finding in verdict.faults.into_iter().map(schema::finding) {
        found.push(Finding { path: value_at.join(&finding.path), fixes: Vec::new(), ..finding });
    }
}

/// The first step of a path that the schema does not know; `None` where it takes anything.
fn first_unknown(version: ApiVersion, path: &Path) -> Option<String> {
    let mut at = Path::root();
    for step in path.segments() {
        let schema = crd::schema_at(version, &at)?;
        at.push(step.clone());
        if crd::schema_at(version, &at).is_none() {
            let open = schema.get("x-kubernetes-preserve-unknown-fields").is_some();
            let fields = schema.get("properties").is_some();
            let Segment::Key(name) = step else { return None };
            return (fields && !open).then(|| name.clone());
        }
    }
    None
}
