//! The schema of `OGXServer`, as upstream's operator installs it at the commit that [`UPSTREAM`] names.
//!
//! Upstream's definition has no descriptions. Those that editors show are in `fields.json`, and are put into the schema
//! when it is read: they change nothing about what is accepted.

use serde_json::{Value, json};
use std::sync::LazyLock;

/// The commit of ogx-ai/ogx-k8s-operator that `crd.json` is from.
pub const UPSTREAM: &str = "1784464";

const SCHEMA: &str = include_str!("crd.json");
const FIELDS: &str = include_str!("fields.json");

/// The `openAPIV3Schema` of `v1beta1`, with descriptions.
#[must_use]
pub fn schema() -> &'static Value {
    static SCHEMA_WITH_WORDS: LazyLock<Value> = LazyLock::new(|| {
        let mut schema = serde_json::from_str(SCHEMA).unwrap_or_default();
        let words: Value = serde_json::from_str(FIELDS).unwrap_or_default();
        describe(&mut schema, &words, &words["any"]);
        schema
    });
    &SCHEMA_WITH_WORDS
}

/// The whole definition, as it is installed.
#[must_use]
pub fn definition() -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "ogxservers.ogx.io"},
        "spec": {
            "group": "ogx.io",
            "names": {"kind": "OGXServer", "listKind": "OGXServerList", "plural": "ogxservers", "singular": "ogxserver"},
            "scope": "Namespaced",
            "versions": [{
                "name": "v1beta1",
                "served": true,
                "storage": true,
                "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": serde_json::from_str::<Value>(SCHEMA).unwrap_or_default()},
            }],
        },
    })
}

/// Puts descriptions into a schema. `words` has for each field either its description, or an object with the
/// description under `""` and those of its own fields beside it; `any` has those of fields that mean the same wherever
/// they stand.
// As deep as the schema, which is embedded.
fn describe(schema: &mut Value, words: &Value, any: &Value) {
    for inside in ["items", "additionalProperties"] {
        if let Some(inner) = schema.get_mut(inside).filter(|inner| inner.is_object()) {
            describe(inner, words, any);
        }
    }
    let Some(fields) = schema.get_mut("properties").and_then(Value::as_object_mut) else { return };
    for (name, field) in fields {
        let (own, general) = (&words[name], &any[name]);
        let text = [own, &own[""], general, &general[""]].into_iter().find_map(Value::as_str);
        if let (Some(text), Some(field)) = (text, field.as_object_mut()) {
            field.entry("description").or_insert_with(|| text.into());
        }
        describe(field, if own.is_object() { own } else { general }, any);
    }
}
