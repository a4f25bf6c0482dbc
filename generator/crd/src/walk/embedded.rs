//! The type and metadata of resources inside other resources.

use super::lists::child_path;
use crate::fault::Fault;
use crate::format::dns_label;
use crate::place::WalkPosition;
use crate::schema::Schema;
use serde_json::{Map, Value};

/// Checks `apiVersion` and `kind` of every embedded resource.
pub(crate) fn check(
    schema: &Schema,
    value: &Value,
    place: &mut WalkPosition<'_>,
    api_server_path: &str,
    faults: &mut Vec<Fault>,
) {
    if place.is_unknown() {
        return;
    }
    match value {
        Value::Object(map) => {
            if schema.embedded {
                resource(map, place, api_server_path, faults);
            }
            for (key, value) in map.iter().filter(|(_, value)| value.is_object() || value.is_array()) {
                let Some(property) = schema.field(key) else { continue };
                let at = child_path(schema, api_server_path, key);
                place.in_key(key, |place| check(property, value, place, &at, faults));
            }
        }
        Value::Array(items) => {
            let Some(item_schema) = &schema.items else { return };
            for (position, item) in items.iter().enumerate() {
                let at = format!("{api_server_path}[{position}]");
                place.in_index(position, |place| check(item_schema, item, place, &at, faults));
            }
        }
        _ => {}
    }
}

fn resource(map: &Map<String, Value>, place: &WalkPosition<'_>, api_server_path: &str, faults: &mut Vec<Fault>) {
    let at =
        |name: &str| if api_server_path.is_empty() { name.to_owned() } else { format!("{api_server_path}.{name}") };
    for name in ["apiVersion", "kind"] {
        if place.is_unknown_key(name) {
            continue;
        }
        let path = place.path().key(name);
        let detail = match map.get(name) {
            None => {
                faults.push(Fault::required_at(&path, at(name), name));
                continue;
            }
            Some(Value::String(text)) if text.is_empty() => "must not be empty".to_owned(),
            Some(Value::String(text)) if name == "apiVersion" && text.matches('/').count() > 1 => {
                format!("unexpected GroupVersion string: {text}")
            }
            Some(Value::String(text)) if name == "kind" && !is_kind(text) => {
                "may have mixed case, but should otherwise match: a DNS-1035 label must consist of lower case \
                 alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric \
                 character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
                    .to_owned()
            }
            Some(Value::String(_)) => continue,
            Some(_) => "must be a string".to_owned(),
        };
        faults.push(Fault::invalid(&path, at(name), map.get(name).unwrap_or(&Value::Null), &detail));
    }
}

fn is_kind(text: &str) -> bool {
    let lower = text.to_lowercase();
    dns_label(&lower) && lower.starts_with(|c: char| c.is_ascii_lowercase())
}
