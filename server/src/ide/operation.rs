//! Where a JSON 6902 operation leads: the resource that it changes, and the place there that its value is written to.

use super::document::DocumentAnalysis;
use super::place;
use super::resource::Resource;
use llsd_generator::kustomize::Pointer;
use llsd_generator::path::{Path, Segment};
use llsd_yaml::Step;
use serde_json::{Map, Value};

/// What an operation can do: RFC 6902, section 4.
pub(crate) const NAMES: [(&str, &str); 6] = [
    ("add", "puts a value into a mapping or list"),
    ("replace", "puts a value in place of another"),
    ("remove", "takes a value away"),
    ("move", "takes a value away and puts it elsewhere"),
    ("copy", "puts a value elsewhere, too"),
    ("test", "fails where the value is another one"),
];

/// An operation as a part of the resource that it changes.
pub(crate) struct Target {
    /// The resource with the operation's value in its place. Of the rest it has what is known, which may be nothing.
    pub(crate) resource: Resource,
    /// The place that the operation's path leads to.
    pub(crate) place: Path,
}

impl Target {
    /// Where the operation of this number in the document's list leads. `None` where its path is none, or where it is
    /// not known of which version the resource is.
    pub(crate) fn of(document: &DocumentAnalysis, number: usize) -> Option<Self> {
        let (operations, _) = document.operations()?;
        let part = document.facts().part.as_ref()?;
        let version = part.version?;
        let operation = operations.iter().nth(number)?;
        let pointer = Pointer::parse(operation.get("path")?.as_str()?)?;
        let whole = part.wholes.first().map(|whole| &whole.after);
        let place = whole.and_then(|whole| pointer.path_in(whole)).unwrap_or_else(|| pointer.path());
        let mut value = whole.cloned().unwrap_or_else(|| Value::Object(Map::new()));
        if let Some(written) = operation.get("value") {
            put(&mut value, place.segments(), written);
        }
        Some(Self { resource: Resource::changed(version, value, document.facts()), place })
    }

    /// The place in the resource that a place in the list of operations leads to: that of the operation's value, or one
    /// below it.
    pub(crate) fn inside(&self, steps: &[Step]) -> Option<Path> {
        let [Step::Index(_), Step::Key(field), below @ ..] = steps else { return None };
        (field == "value").then(|| self.place.join(&place::path(below)))
    }
}

/// Writes a value into an object, with the mappings and lists that lead to it. Lists grow by one item at most: what is
/// farther behind their end is left out.
fn put(object: &mut Value, steps: &[Segment], value: &Value) {
    let Some((step, rest)) = steps.split_first() else {
        object.clone_from(value);
        return;
    };
    match step {
        Segment::Key(name) => {
            if !object.is_object() {
                *object = Value::Object(Map::new());
            }
            if let Some(fields) = object.as_object_mut() {
                put(fields.entry(name.clone()).or_insert(Value::Null), rest, value);
            }
        }
        Segment::Index(number) => {
            if !object.is_array() {
                *object = Value::Array(Vec::new());
            }
            if let Some(items) = object.as_array_mut() {
                if *number == items.len() {
                    items.push(Value::Null);
                }
                if let Some(item) = items.get_mut(*number) {
                    put(item, rest, value);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn with(mut object: Value, place: &str, value: Value) -> Value {
        put(&mut object, Path::parse(place).segments(), &value);
        object
    }

    #[test]
    fn a_value_is_put_where_the_path_leads() {
        assert_eq!(with(json!({"a": 1}), "b.c", json!(2)), json!({"a": 1, "b": {"c": 2}}));
        assert_eq!(with(json!({"a": [1, 2]}), "a[1]", json!(3)), json!({"a": [1, 3]}));
        assert_eq!(with(json!({"a": [1]}), "a[1].b", json!(3)), json!({"a": [1, {"b": 3}]}));
        assert_eq!(with(json!({"a": "text"}), "a.b", json!(3)), json!({"a": {"b": 3}}));
        assert_eq!(with(json!({"a": 1}), "", json!({})), json!({}));
    }

    #[test]
    fn a_list_does_not_grow_without_end() {
        assert_eq!(with(json!({"a": [1]}), "a[4000000000].b", json!(3)), json!({"a": [1]}));
    }
}
