//! Lists that are sets, and lists whose items are told apart by keys.

use crate::fault::Fault;
use crate::place::WalkPosition;
use crate::schema::{ListType, Schema};
use crate::text::json;
use serde_json::{Map, Value};
use std::collections::HashMap;

/// Checks that no set contains an item twice, and no keyed list a key, anywhere in the value.
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
            for (key, value) in map.iter().filter(|(_, value)| value.is_object() || value.is_array()) {
                let Some(property) = schema.field(key) else { continue };
                let at = child_path(schema, api_server_path, key);
                place.in_key(key, |place| check(property, value, place, &at, faults));
            }
        }
        Value::Array(items) => {
            match &schema.list_type {
                ListType::Atomic => {}
                ListType::Set => set(items, place, api_server_path, faults),
                ListType::Map(names) => keyed(names, items, place, api_server_path, faults),
            }
            let Some(item_schema) = &schema.items else { return };
            for (position, item) in items.iter().enumerate() {
                let at = format!("{api_server_path}[{position}]");
                place.in_index(position, |place| check(item_schema, item, place, &at, faults));
            }
        }
        _ => {}
    }
}

/// The API server's spelling of a child's place: fields with a dot, map keys in brackets.
pub(crate) fn child_path(schema: &Schema, parent: &str, key: &str) -> String {
    if !schema.properties.contains_key(key) && schema.additional.is_some() {
        format!("{parent}[{key}]")
    } else if parent.is_empty() {
        key.to_owned()
    } else {
        format!("{parent}.{key}")
    }
}

fn set(items: &[Value], place: &mut WalkPosition<'_>, api_server_path: &str, faults: &mut Vec<Fault>) {
    let shown: Vec<Option<Value>> = items.iter().map(|item| Some(item.clone())).collect();
    repeated(&shown, "the item", place, api_server_path, faults);
}

fn keyed(
    names: &[String],
    items: &[Value],
    place: &mut WalkPosition<'_>,
    api_server_path: &str,
    faults: &mut Vec<Fault>,
) {
    for (position, item) in items.iter().enumerate() {
        if !item.is_object() && !item.is_null() && !place.in_index(position, |place| place.is_unknown()) {
            let path = place.path().index(position);
            let at = format!("{api_server_path}[{position}]");
            faults.push(Fault::invalid(&path, at, item, "must be an object for an array of list-type map"));
            return;
        }
    }
    let shown: Vec<Option<Value>> = items.iter().map(|item| Some(key_of(names, item))).collect();
    repeated(&shown, "the key", place, api_server_path, faults);
}

fn key_of(names: &[String], item: &Value) -> Value {
    let fields = names.iter().filter_map(|name| Some((name.clone(), item.get(name)?.clone())));
    Value::Object(fields.collect::<Map<_, _>>())
}

fn repeated(
    shown: &[Option<Value>],
    what: &str,
    place: &mut WalkPosition<'_>,
    api_server_path: &str,
    faults: &mut Vec<Fault>,
) {
    let mut seen: HashMap<String, (usize, bool)> = HashMap::with_capacity(shown.len());
    for (position, value) in shown.iter().enumerate() {
        let Some(value) = value else { continue };
        if place.in_index(position, |place| place.has_unknown()) {
            continue;
        }
        // 1 and 1.0 are two items, but not two keys with such fields.
        let shown = format!("{}{}", if value.is_f64() { "float " } else { "" }, json(value));
        match seen.get_mut(&shown) {
            None => {
                seen.insert(shown, (position, false));
            }
            // Only the first repetition is reported.
            Some((first, reported)) if !*reported => {
                *reported = true;
                let path = place.path().index(position);
                let mut fault = Fault::duplicate(&path, format!("{api_server_path}[{position}]"), value, what);
                fault.first = Some(place.path().index(*first));
                faults.push(fault);
            }
            Some(_) => {}
        }
    }
}

/// The items of an old list by their keys; only keyed lists can tell which item of the new list continues which.
pub(crate) struct OldItems<'o> {
    names: &'o [String],
    by_key: HashMap<String, &'o Value>,
}

impl<'o> OldItems<'o> {
    /// `None` if the list has no keys, or there is no old one.
    pub(crate) fn of(list_type: &'o ListType, old: Option<&'o Value>) -> Option<Self> {
        let (ListType::Map(names), Some(Value::Array(old))) = (list_type, old) else { return None };
        let mut by_key = HashMap::with_capacity(old.len());
        for item in old.iter().filter(|item| item.is_object()) {
            by_key.entry(json(&key_of(names, item))).or_insert(item);
        }
        Some(Self { names, by_key })
    }

    /// The old item that `item` continues.
    pub(crate) fn before(&self, item: &Value) -> Option<&'o Value> {
        if !item.is_object() {
            return None;
        }
        self.by_key.get(&json(&key_of(self.names, item))).copied()
    }
}
