//! Values against the schema of a version: filling in defaults, and leaving out what the version does not allow.

use crate::api::{ApiVersion, crd};
use regex::Regex;
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// Adds the schema's defaults, as the API server does: into objects that exist, and into those just added. An explicit
/// null where the schema has a default counts as nothing.
pub(crate) fn fill_defaults(object: &mut Value, version: ApiVersion) {
    let mut open = vec![(crd::schema(version), object)];
    while let Some((schema, value)) = open.pop() {
        match value {
            Value::Object(fields) => {
                for (name, field) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
                    if let Some(default) = field.get("default")
                        && fields.get(name).is_none_or(Value::is_null)
                    {
                        fields.insert(name.clone(), default.clone());
                    }
                }
                for (name, value) in fields {
                    if let Some(schema) = member(schema, name) {
                        open.push((schema, value));
                    }
                }
            }
            Value::Array(items) => {
                if let Some(schema) = schema.get("items") {
                    open.extend(items.iter_mut().map(|item| (schema, item)));
                }
            }
            _ => {}
        }
    }
}

/// The schema of a field or map value, if there is one.
fn member<'s>(schema: &'s Value, name: &str) -> Option<&'s Value> {
    schema
        .get("properties")
        .and_then(|fields| fields.get(name))
        .or_else(|| schema.get("additionalProperties").filter(|values| values.is_object()))
}

/// What becomes of a value that a schema does not allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unfit {
    /// The value is left out, because the field is optional in the other version. The annotation keeps it.
    Drop,
    /// It stays, for its author to see and decide, unless it is empty and so says nothing.
    Keep,
}

/// The value without the optional parts that the schema does not allow and `unfit` does not keep; `None` if nothing is
/// left. Lists are kept whole or not at all. The depth of the walk is the schema's.
pub(super) fn fitting(schema: &Value, value: &Value, unfit: Unfit) -> Option<Value> {
    let fits = strictly(schema, value, unfit);
    let says_something = match value {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => true,
    };
    if fits.is_none() && unfit == Unfit::Keep && says_something { Some(value.clone()) } else { fits }
}

fn strictly(schema: &Value, value: &Value, unfit: Unfit) -> Option<Value> {
    if schema.get("x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(true)) {
        return Some(value.clone());
    }
    match value {
        Value::Object(fields) => {
            is_of(schema, "object").then_some(())?;
            let mut kept = Map::new();
            for (name, field) in fields {
                if let Some(field) = member(schema, name).and_then(|schema| fitting(schema, field, unfit)) {
                    kept.insert(name.clone(), field);
                }
            }
            let required = schema.get("required").and_then(Value::as_array);
            let complete = required.into_iter().flatten().filter_map(Value::as_str).all(|name| kept.contains_key(name));
            complete.then_some(Value::Object(kept))
        }
        Value::Array(items) => {
            let room = is_of(schema, "array") && within(schema, "minItems", "maxItems", items.len());
            let list: Option<Vec<Value>> =
                items.iter().map(|item| schema.get("items").and_then(|schema| fitting(schema, item, unfit))).collect();
            list.filter(|items| room && !repeats_a_key(schema, items)).map(Value::Array)
        }
        scalar => scalar_fits(schema, scalar).then(|| scalar.clone()),
    }
}

/// Whether two items of a list with keys have the same one.
fn repeats_a_key(schema: &Value, items: &[Value]) -> bool {
    let Some(names) = schema.get("x-kubernetes-list-map-keys").and_then(Value::as_array) else { return false };
    let key = |item: &Value| -> Vec<Option<Value>> {
        names.iter().map(|name| item.get(name.as_str().unwrap_or_default()).cloned()).collect()
    };
    let mut seen = HashSet::new();
    !items.iter().all(|item| seen.insert(key(item)))
}

fn is_of(schema: &Value, kind: &str) -> bool {
    schema.get("type").and_then(Value::as_str) == Some(kind)
}

fn within(schema: &Value, least: &str, most: &str, count: usize) -> bool {
    let bound = |name: &str| schema.get(name).and_then(Value::as_f64);
    let count = count as f64;
    bound(least).is_none_or(|least| count >= least) && bound(most).is_none_or(|most| count <= most)
}

fn scalar_fits(schema: &Value, value: &Value) -> bool {
    let either = schema.get("x-kubernetes-int-or-string") == Some(&Value::Bool(true));
    let of_type = match value {
        Value::String(_) => either || is_of(schema, "string"),
        Value::Number(number) => {
            let whole = number.is_i64() || number.is_u64();
            is_of(schema, "number") || whole && (either || is_of(schema, "integer"))
        }
        Value::Bool(_) => is_of(schema, "boolean"),
        _ => false,
    };
    let listed = schema.get("enum").and_then(Value::as_array).is_none_or(|values| values.contains(value));
    let fits = match value {
        Value::String(text) => {
            within(schema, "minLength", "maxLength", text.chars().count())
                && schema.get("pattern").and_then(Value::as_str).is_none_or(|pattern| matches(pattern, text))
        }
        Value::Number(number) => {
            let number = number.as_f64().unwrap_or_default();
            let bound = |name: &str| schema.get(name).and_then(Value::as_f64);
            bound("minimum").is_none_or(|least| number >= least) && bound("maximum").is_none_or(|most| number <= most)
        }
        _ => true,
    };
    of_type && listed && fits
}

/// Whether a text matches one of the schemas' patterns. A pattern that does not compile refuses nothing.
fn matches(pattern: &str, text: &str) -> bool {
    static PATTERNS: LazyLock<HashMap<String, Regex>> = LazyLock::new(|| {
        let mut found = HashMap::new();
        let mut open = ApiVersion::LLAMA_STACK.map(crd::schema).to_vec();
        while let Some(schema) = open.pop() {
            if let Some(pattern) = schema.get("pattern").and_then(Value::as_str)
                && let Ok(compiled) = Regex::new(pattern)
            {
                found.insert(pattern.to_owned(), compiled);
            }
            open.extend(
                schema.get("properties").and_then(Value::as_object).into_iter().flatten().map(|(_, child)| child),
            );
            open.extend(["items", "additionalProperties"].iter().filter_map(|name| schema.get(name)));
        }
        found
    });
    PATTERNS.get(pattern).is_none_or(|pattern| pattern.is_match(text))
}
