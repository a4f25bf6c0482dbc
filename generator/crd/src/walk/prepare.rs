//! What the API server does to an object before it looks at it: defaults, dropped nulls, pruned unknown fields.

use crate::fault::{Fault, FaultKind};
use crate::nearest::nearest;
use crate::place::WalkPosition;
use crate::schema::Schema;
use serde_json::{Map, Value};

/// The fields that an embedded resource has whatever its schema says.
const META_FIELDS: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// Fills in defaults, and drops nulls where null is not allowed. Places whose value is not known stay as they are.
pub(crate) fn complete(schema: &Schema, value: &mut Value, place: &mut WalkPosition<'_>) {
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
pub(crate) fn complete_name(object: &mut Value, place: &WalkPosition<'_>) {
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

/// Removes the fields that the schema does not know, with a fault for each.
pub(crate) fn prune(schema: &Schema, value: &mut Value, place: &mut WalkPosition<'_>, faults: &mut Vec<Fault>) {
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
                    place.in_key(key, |place| prune(property, child, place, faults));
                    return true;
                }
                if schema.preserve_unknown {
                    return true;
                }
                faults.push(place.in_key(key, |place| unknown_field(schema, key, place)));
                false
            });
        }
        Value::Array(items) => {
            // Under preserve-unknown-fields, items without a schema of their own are kept as they are.
            let Some(item_schema) = &schema.items else { return };
            for (position, item) in items.iter_mut().enumerate() {
                place.in_index(position, |place| prune(item_schema, item, place, faults));
            }
        }
        _ => {}
    }
}

/// Takes back the suggestion of a name that the object has already. Names that only a default brought are free.
pub(crate) fn keep_free_names(written: &Value, faults: &mut [Fault]) {
    for fault in faults.iter_mut().filter(|fault| fault.kind == FaultKind::UnknownField) {
        let taken =
            |name: &String| fault.path.parent().is_some_and(|parent| parent.key(name.as_str()).find(written).is_some());
        fault.suggestion = fault.suggestion.take().filter(|name| !taken(name));
    }
}

fn unknown_field(schema: &Schema, key: &str, place: &WalkPosition<'_>) -> Fault {
    Fault::unknown_field(place, key, nearest(key, schema.properties.keys().map(String::as_str)))
}
