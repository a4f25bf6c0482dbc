//! Secrets and ConfigMaps that an `OGXServer` names.

use super::crd;
use crate::path::{Path, Segment};
use crate::references::{NeededBy, Reference, ReferenceKind};
use serde_json::Value;

/// References with a name and a key, wherever the schema has one. They always lie in the resource's own namespace.
/// Fields that Kubernetes has as well are in the table of [`crate::references`].
pub(crate) fn of(object: &Value) -> Vec<Reference<'_>> {
    let text = |path: &Path| path.find(object).and_then(Value::as_str);
    let named = |(kind, at): (ReferenceKind, Path)| {
        let (path, key) = (at.key("name"), at.key("key"));
        let name = text(&path).filter(|name| !name.is_empty())?;
        let keys = text(&key).map(|text| (text, key)).into_iter().collect();
        Some(Reference { kind, needed_by: NeededBy::Server, name, path, namespace: None, keys, is_optional: false })
    };
    places(object).into_iter().filter_map(named).collect()
}

/// Where a resource has a name and a key of an object, and the kind of that object.
#[must_use]
pub fn places(object: &Value) -> Vec<(ReferenceKind, Path)> {
    let mut found = Vec::new();
    let schema = &crd::schema()["properties"]["spec"];
    collect(&object["spec"], schema, &Path::parse("spec"), &mut found);
    found
}

/// As deep as the schema, which is embedded.
fn collect(value: &Value, schema: &Value, at: &Path, found: &mut Vec<(ReferenceKind, Path)>) {
    match value {
        Value::Array(items) => {
            for (number, item) in items.iter().enumerate() {
                collect(item, &schema["items"], &at.index(number), found);
            }
        }
        Value::Object(_) if is_reference(schema) => found.push((kind_at(at), at.clone())),
        Value::Object(fields) => {
            for (name, field) in fields {
                let declared = schema.get("properties").and_then(|known| known.get(name));
                if let Some(inside) = declared.or_else(|| schema.get("additionalProperties")) {
                    collect(field, inside, &at.key(name), found);
                }
            }
        }
        _ => {}
    }
}

/// Whether the schema is that of a name and a key, both required: upstream's `SecretKeyRef` and `ConfigMapKeyRef`.
/// Kubernetes' own selectors of keys require the key alone.
pub(crate) fn is_reference(schema: &Value) -> bool {
    let required = |name: &str| {
        schema["required"].as_array().is_some_and(|all| all.len() == 2 && all.iter().any(|field| field == name))
    };
    required("name") && required("key")
}

/// What the reference at `at` names: ConfigMaps hold configs and certificates of authorities, Secrets all else.
pub(crate) fn kind_at(at: &Path) -> ReferenceKind {
    let is = |step: usize, name: &str| at.segments().get(step) == Some(&Segment::Key(name.to_owned()));
    let of_config_map = is(1, "baseConfig") || is(1, "overrideConfig") || (is(1, "tls") && is(2, "trust"));
    if of_config_map { ReferenceKind::ConfigMap } else { ReferenceKind::Secret }
}
