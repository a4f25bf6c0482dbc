//! What an annotation keeps: differences between what translation alone gives and what an object really had.

use super::{V1ALPHA1_FIELDS, V1ALPHA2_FIELDS};
use crate::api::{ApiVersion, crd};
use crate::path::Segment;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, json};

/// One difference. Absent and null are not the same.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct PreservedField {
    /// The place, as keys from the object's root.
    pub path: Vec<String>,
    /// What translation gives there; `None` if nothing. The difference holds only while this is so.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub from: Option<Value>,
    /// What belongs there; `None` if nothing.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub to: Option<Value>,
    /// How many of the path's first keys must exist: a part of an object that was removed since goes with it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub within: usize,
}

fn present<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(input).map(Some)
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde asks for a reference
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// Objects that only group fields: each field in them stands for itself. Any other object is one value while one of
/// the two sides lacks it, because its fields make sense together.
const GROUPS: [&str; 14] = [
    "",
    "metadata",
    "metadata.annotations",
    "spec",
    "spec.server",
    "spec.server.containerSpec",
    "spec.server.podOverrides",
    "spec.server.tlsConfig",
    "spec.network",
    "spec.workload",
    "spec.workload.overrides",
    "spec.networking",
    "spec.networking.tls",
    "status",
];

/// Deeper objects are compared as one value: the schema of neither version is that deep, and the walk calls itself.
const MAX_DEPTH: usize = 32;

/// What it takes to make `to` out of `from`, in the order in which it must be applied.
pub(crate) fn differences(from: &Value, to: &Value) -> Vec<PreservedField> {
    let mut found = Vec::new();
    compare(&mut Vec::new(), Some(from), Some(to), 0, &mut found);
    // The version is the one thing that must not come back.
    found.retain(|kept| kept.path != ["apiVersion"]);
    found
}

fn compare(
    path: &mut Vec<String>,
    from: Option<&Value>,
    to: Option<&Value>,
    within: usize,
    found: &mut Vec<PreservedField>,
) {
    if from == to {
        return;
    }
    let group = GROUPS.contains(&path.join(".").as_str());
    let nothing = Map::new();
    let fields = match (from, to) {
        (Some(Value::Object(from)), Some(Value::Object(to))) if path.len() < MAX_DEPTH => Some((from, to)),
        (None, Some(Value::Object(to))) if group && !to.is_empty() => Some((&nothing, to)),
        (Some(Value::Object(from)), None) if group => Some((from, &nothing)),
        _ => None,
    };
    let Some((before, after)) = fields else {
        found.push(PreservedField { path: path.clone(), from: from.cloned(), to: to.cloned(), within });
        return;
    };
    let inner = if group { within } else { path.len() };
    for name in before.keys().chain(after.keys().filter(|name| !before.contains_key(*name))) {
        path.push(name.clone());
        compare(path, before.get(name), after.get(name), inner, found);
        path.pop();
    }
    if to.is_none() {
        found.push(PreservedField { path: path.clone(), from: Some(json!({})), to: None, within });
    }
}

/// Puts the differences into an object of `version`, each where the object still has what it was made against.
pub(super) fn apply(kept: &[PreservedField], object: &mut Value, version: ApiVersion) {
    for difference in kept {
        let path = difference.path.iter().cloned().map(Segment::Key).collect();
        let default = crd::schema_at(version, &path).and_then(|schema| schema.get("default"));
        apply_one(difference, object, default);
    }
}

/// `default` stands in for nothing on both sides: whether the object around a field was there then, or is there now,
/// decides whether its default was filled in, and is no edit of the field.
fn apply_one(kept: &PreservedField, object: &mut Value, default: Option<&Value>) {
    let Some((last, parents)) = kept.path.split_last() else { return };
    let mut here = Some(&*object);
    for (depth, name) in kept.path.iter().enumerate() {
        if depth < kept.within && here.and_then(|value| value.get(name)).is_none() {
            return;
        }
        here = here.and_then(|value| value.get(name));
    }
    if here.or(default) != kept.from.as_ref().or(default) {
        return;
    }
    let mut place = object;
    for name in parents {
        let Some(fields) = place.as_object_mut() else { return };
        place = fields.entry(name.clone()).or_insert_with(|| json!({}));
    }
    let Some(fields) = place.as_object_mut() else { return };
    match &kept.to {
        Some(value) => {
            fields.insert(last.clone(), value.clone());
        }
        None => {
            fields.shift_remove(last);
        }
    }
}

/// The differences in an object's annotation; none where it is missing or not ours to read.
pub(super) fn read(object: &Value, annotation: &str) -> Vec<PreservedField> {
    text(object, annotation).and_then(parse).unwrap_or_default()
}

/// The differences that the text of an annotation holds, if it is one that a conversion can have written. Anybody may
/// write annotations: what would give an object another identity, or parts that no conversion loses, is not ours.
pub(super) fn parse(text: &str) -> Option<Vec<PreservedField>> {
    serde_json::from_str::<Vec<PreservedField>>(text).ok().filter(|all| all.iter().all(PreservedField::is_possible))
}

impl PreservedField {
    /// Whether [`differences`] can have found it.
    fn is_possible(&self) -> bool {
        // One key below the deepest object that is looked into.
        let path: Vec<_> = self.path.iter().map(String::as_str).collect();
        path.len() <= MAX_DEPTH + 1
            && self.within <= path.len()
            && match path.as_slice() {
                ["spec" | "status", ..] => true,
                ["metadata", "annotations"] => self.to.as_ref().is_none_or(|to| to.is_null() || *to == json!({})),
                ["metadata", "annotations", V1ALPHA1_FIELDS | V1ALPHA2_FIELDS] => {
                    self.to.as_ref().is_none_or(Value::is_string)
                }
                _ => false,
            }
    }

    /// Whether it keeps one of our own annotations, which somebody else then wrote.
    pub(super) fn is_of_annotation(&self) -> bool {
        matches!(self.path.as_slice(), [first, ..] if first == "metadata") && self.path.len() == 3
    }
}

/// The text of an annotation.
pub(super) fn text<'o>(object: &'o Value, annotation: &str) -> Option<&'o str> {
    object.get("metadata").and_then(|metadata| metadata.get("annotations")?.get(annotation)?.as_str())
}

/// Bytes of all annotations, as the API server counts them.
pub(super) fn size_of_annotations(object: &Value) -> usize {
    let annotations = object.get("metadata").and_then(|metadata| metadata.get("annotations")?.as_object());
    let entries = annotations.into_iter().flatten();
    entries.map(|(key, value)| key.len() + value.as_str().map_or(0, str::len)).sum()
}

/// Writes the differences into an annotation.
pub(super) fn write(object: &mut Value, annotation: &str, kept: &[PreservedField]) {
    if let Ok(text) = serde_json::to_string(kept) {
        write_text(object, annotation, text);
    }
}

pub(super) fn write_text(object: &mut Value, annotation: &str, text: String) {
    let Some(fields) = object.as_object_mut() else { return };
    let mut place = fields.entry("metadata").or_insert_with(|| json!({}));
    for name in ["annotations", annotation] {
        if !place.is_object() {
            *place = json!({});
        }
        let Some(fields) = place.as_object_mut() else { return };
        place = fields.entry(name).or_insert(Value::Null);
    }
    *place = Value::String(text);
}

/// Removes an annotation, and the map of annotations if that was the only one.
pub(crate) fn remove_annotation(object: &mut Value, annotation: &str) {
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else { return };
    let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) else { return };
    if annotations.shift_remove(annotation).is_some() && annotations.is_empty() {
        metadata.shift_remove("annotations");
    }
}
