//! The patch that makes one resource another, in either form.

use super::Pointer;
use crate::path::Path;
use serde_json::{Map, Value, json};

/// The strategic merge patch that makes `after` of `before`, as kustomize applies one to a custom resource: a list takes
/// the place of a list, and a null removes a field. Empty where nothing differs.
#[must_use]
pub fn merge_between(before: &Value, after: &Value) -> Value {
    let (Some(old), Some(new)) = (before.as_object(), after.as_object()) else { return after.clone() };
    let mut patch = Map::new();
    for (key, value) in new {
        match old.get(key) {
            Some(same) if same == value => {}
            Some(known) if known.is_object() && value.is_object() => {
                patch.insert(key.clone(), merge_between(known, value));
            }
            _ => _ = patch.insert(key.clone(), value.clone()),
        }
    }
    patch.extend(old.keys().filter(|key| !new.contains_key(*key)).map(|key| (key.clone(), Value::Null)));
    Value::Object(patch)
}

/// The JSON 6902 operations that make `after` of `before`, those of one field beside each other.
#[must_use]
pub fn operations_between(before: &Value, after: &Value) -> Vec<Value> {
    let mut operations = Vec::new();
    collect(before, after, &Path::root(), &mut operations);
    operations
}

// As deep as plain values are.
fn collect(before: &Value, after: &Value, at: &Path, out: &mut Vec<Value>) {
    let place = |path: &Path| Pointer::of(path).to_string();
    match (before, after) {
        _ if before == after => {}
        (Value::Object(old), Value::Object(new)) => {
            for (key, value) in new {
                let inside = at.key(key.as_str());
                match old.get(key) {
                    Some(known) => collect(known, value, &inside, out),
                    None => out.push(json!({"op": "add", "path": place(&inside), "value": value})),
                }
            }
            let gone = old.keys().filter(|key| !new.contains_key(*key));
            out.extend(gone.map(|key| json!({"op": "remove", "path": place(&at.key(key.as_str()))})));
        }
        (Value::Array(old), Value::Array(new)) if new.starts_with(old) => {
            let behind = format!("{}/-", place(at));
            out.extend(new[old.len()..].iter().map(|item| json!({"op": "add", "path": behind, "value": item})));
        }
        (Value::Array(old), Value::Array(new)) if old.len() == new.len() => {
            for (number, (old, new)) in old.iter().zip(new).enumerate() {
                collect(old, new, &at.index(number), out);
            }
        }
        _ => out.push(json!({"op": "replace", "path": place(at), "value": after})),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Operations, merge};
    use super::*;

    /// What both forms make of the first value is the second one.
    fn leads(before: &Value, after: &Value) -> (Value, Vec<Value>) {
        let (merging, operations) = (merge_between(before, after), operations_between(before, after));
        assert_eq!(merge(before, &merging).unwrap().as_ref(), Some(after), "{merging}");
        let all = Operations::read(&json!(operations));
        assert_eq!(all.map_or_else(|| before.clone(), |all| all.apply(before).unwrap()), *after, "{operations:?}");
        (merging, operations)
    }

    #[test]
    fn both_forms_lead_from_one_to_the_other() {
        let before = json!({"a": {"b": 1, "c": [1, 2]}, "d/e": "x", "f": [{"g": 1}, {"h": 2}]});
        let (merging, operations) = leads(&before, &json!({"a": {"b": 2, "c": [1, 2, 3]}, "f": [{"g": 1}, {"h": 3}]}));
        assert_eq!(merging, json!({"a": {"b": 2, "c": [1, 2, 3]}, "f": [{"g": 1}, {"h": 3}], "d/e": null}));
        assert_eq!(
            json!(operations),
            json!([
                {"op": "replace", "path": "/a/b", "value": 2},
                {"op": "add", "path": "/a/c/-", "value": 3},
                {"op": "replace", "path": "/f/1/h", "value": 3},
                {"op": "remove", "path": "/d~1e"},
            ])
        );
        leads(&before, &json!({"a": {"c": []}, "d/e": "x", "f": [], "new": {"i": {"j": true}}}));
        assert_eq!(leads(&before, &before), (json!({}), Vec::new()));
    }
}
