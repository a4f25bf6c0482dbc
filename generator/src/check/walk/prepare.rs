//! What the API server does to an object before it looks at it: defaults, dropped nulls, pruned unknown fields.

use super::nearest::nearest;
use super::place::Place;
use super::text::quote;
use crate::check::finding::{Finding, Fix, FixEdit};
use crate::check::schema::Schema;
use serde_json::{Map, Value};

/// The fields that an embedded resource has whatever its schema says.
const META_FIELDS: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// Fills in defaults, and drops nulls where null is not allowed. Places whose value is not known stay as they are.
pub(crate) fn complete(schema: &Schema, value: &mut Value, place: &mut Place<'_>) {
    if place.is_unknown() {
        return;
    }
    match value {
        Value::Object(map) => {
            for (name, property) in &schema.properties {
                let Some(default) = &property.default else { continue };
                match map.get_mut(name) {
                    None => {
                        map.insert(name.clone(), Value::clone(default));
                    }
                    Some(found) if found.is_null() && !property.nullable && !place.is_unknown_key(name) => {
                        *found = Value::clone(default);
                    }
                    Some(_) => {}
                }
            }
            for (key, child) in map.iter_mut() {
                let Some(property) = schema.field(key) else { continue };
                if child.is_null() && !property.nullable && !place.is_unknown_key(key) {
                    *child = property.default.as_deref().cloned().unwrap_or(Value::Null);
                }
                if child.is_object() || child.is_array() {
                    place.in_key(key, |place| complete(property, child, place));
                }
            }
            map.retain(|key, child| {
                !child.is_null()
                    || place.is_unknown_key(key)
                    || schema.field(key).is_none_or(|property| property.nullable)
            });
        }
        Value::Array(items) => {
            let Some(schema) = &schema.items else { return };
            for (position, item) in items.iter_mut().enumerate() {
                place.in_index(position, |place| {
                    if item.is_null() && !schema.nullable && !place.is_unknown() {
                        *item = schema.default.as_deref().cloned().unwrap_or(Value::Null);
                    }
                    complete(schema, item, place);
                });
            }
        }
        _ => {}
    }
}

/// Gives a resource without a usable name the name that rules see: an empty one, or, from a prefix, one as long as the
/// API server would make it. That metadata itself may be wrong is another matter.
pub(crate) fn complete_name(object: &mut Value, place: &Place<'_>) {
    let Some(fields) = object.as_object_mut().filter(|_| !place.is_unknown() && !place.is_unknown_key("metadata"))
    else {
        return;
    };
    let metadata = fields.entry("metadata").or_insert(Value::Null);
    if !metadata.is_object() {
        *metadata = Value::Object(Map::new());
    }
    let Some(metadata) = metadata.as_object_mut() else { return };
    let named = metadata.get("name").and_then(Value::as_str).is_some_and(|name| !name.is_empty());
    if !named && !place.unknown().contains(&place.path().key("metadata").key("name")) {
        let prefix = metadata.get("generateName").and_then(Value::as_str).filter(|prefix| !prefix.is_empty());
        let name = prefix.map(|prefix| format!("{prefix}00000")).unwrap_or_default();
        metadata.insert("name".to_owned(), name.into());
    }
}

/// Removes the fields that the schema does not know, with a finding for each.
pub(crate) fn prune(schema: &Schema, value: &mut Value, place: &mut Place<'_>, findings: &mut Vec<Finding>) {
    if place.is_unknown() {
        return;
    }
    match value {
        Value::Object(map) => {
            let at_root = place.is_root();
            map.retain(|key, child| {
                let meta = META_FIELDS.contains(&key.as_str());
                // A resource's metadata has its own type, whatever the schema says of it.
                if meta && (schema.embedded || at_root) {
                    return true;
                }
                if let Some(property) = schema.field(key) {
                    place.in_key(key, |place| prune(property, child, place, findings));
                    return true;
                }
                if schema.preserve_unknown {
                    return true;
                }
                findings.push(place.in_key(key, |place| unknown_field(schema, key, place)));
                false
            });
        }
        Value::Array(items) => {
            // Under preserve-unknown-fields, items without a schema of their own are kept as they are.
            let Some(item_schema) = &schema.items else { return };
            for (position, item) in items.iter_mut().enumerate() {
                place.in_index(position, |place| prune(item_schema, item, place, findings));
            }
        }
        _ => {}
    }
}

/// Takes back offers of a name that the object has already. Names that only a default brought are free.
pub(crate) fn keep_free_names(written: &Value, findings: &mut [Finding]) {
    let taken = |fix: &Fix| {
        fix.edits.iter().any(|edit| match edit {
            FixEdit::RenameKey { path, to } => {
                path.parent().is_some_and(|parent| parent.key(to.as_str()).find(written).is_some())
            }
            _ => false,
        })
    };
    for finding in findings.iter_mut().filter(|finding| finding.rule == super::UNKNOWN_FIELD) {
        finding.fixes.retain(|fix| !taken(fix));
    }
}

fn unknown_field(schema: &Schema, key: &str, place: &Place<'_>) -> Finding {
    let path = place.path().clone();
    let server_text = format!("unknown field {}", quote(&path.to_string()));
    let suggestion = nearest(key, schema.properties.keys().map(String::as_str));
    let message = match suggestion {
        Some(name) => format!("unknown field {}; did you mean {}?", quote(key), quote(name)),
        None => format!("unknown field {}", quote(key)),
    };
    let mut finding = Finding::error(super::UNKNOWN_FIELD, path.clone(), message).at_key();
    finding.server_text = Some(server_text);
    match suggestion {
        Some(name) => finding.with_fix(Fix {
            title: format!("Rename {} to {}", quote(key), quote(name)),
            edits: vec![FixEdit::RenameKey { path, to: name.to_owned() }],
            preferred: true,
        }),
        None => finding,
    }
}
