//! A config tree in which every value knows its origin.

use super::origin::Origin;
use indexmap::IndexMap;
use serde_json::Value;
use std::sync::Arc;

/// Entries of a mapping, in the order in which they are written.
pub type Map = IndexMap<String, Tracked>;

/// A value and where it comes from. For a mapping or a list the origin is that of the line that opens it.
#[derive(Clone, Debug, PartialEq)]
pub struct Tracked {
    /// What the value was made from: the nearest cause, not that of its parents.
    pub origin: Origin,
    /// The value itself. Items and entries carry origins of their own.
    pub data: Data,
}

/// The shapes of a config value. A copy shares the lists and mappings that nobody changes: most of a base config.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    /// A null, boolean or number, in the spelling that is written out unquoted.
    Literal(String),
    /// A string, whatever it looks like.
    Text(String),
    /// Items in order. Shared, so that a clone of a base config costs no copy.
    List(Arc<Vec<Tracked>>),
    /// Entries in the order in which they are written. Shared, as lists are.
    Map(Arc<Map>),
}

impl Tracked {
    /// A string with an origin.
    pub fn text(origin: Origin, text: impl Into<String>) -> Self {
        Self { origin, data: Data::Text(text.into()) }
    }

    /// A whole number with an origin.
    pub fn number(origin: Origin, number: impl Into<i64>) -> Self {
        Self { origin, data: Data::Literal(number.into().to_string()) }
    }

    /// Null, written because of `origin`.
    #[must_use]
    pub fn null(origin: Origin) -> Self {
        Self { origin, data: Data::Literal("null".to_owned()) }
    }

    /// An empty mapping with an origin; entries bring their own.
    #[must_use]
    pub fn map(origin: Origin) -> Self {
        Self { origin, data: Data::Map(Arc::default()) }
    }

    /// An empty list with an origin; items bring their own.
    #[must_use]
    pub fn list(origin: Origin) -> Self {
        Self { origin, data: Data::List(Arc::default()) }
    }

    /// The tree of a JSON value; `origin` tells where each part comes from, given its steps below the value.
    /// Recursion is as deep as the value, which `serde_json` and the document reader bound.
    pub fn from_json(value: &Value, at: &crate::path::Path, origin: &impl Fn(&crate::path::Path) -> Origin) -> Self {
        let data = match value {
            Value::Null => Data::Literal("null".to_owned()),
            Value::Bool(flag) => Data::Literal(flag.to_string()),
            Value::Number(number) => Data::Literal(literal_number(number)),
            Value::String(text) => Data::Text(text.clone()),
            Value::Array(items) => {
                let item = |(place, item)| Self::from_json(item, &at.index(place), origin);
                Data::List(Arc::new(items.iter().enumerate().map(item).collect()))
            }
            Value::Object(entries) => {
                let entry = |(key, item): (&String, _)| (key.clone(), Self::from_json(item, &at.key(key), origin));
                Data::Map(Arc::new(entries.iter().map(entry).collect()))
            }
        };
        Self { origin: origin(at), data }
    }

    /// The string, if it is one.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match &self.data {
            Data::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The entries, if it is a mapping.
    #[must_use]
    pub fn as_map(&self) -> Option<&Map> {
        match &self.data {
            Data::Map(map) => Some(map),
            _ => None,
        }
    }

    /// The items, if it is a list.
    #[must_use]
    pub fn as_list(&self) -> Option<&[Self]> {
        match &self.data {
            Data::List(items) => Some(items),
            _ => None,
        }
    }

    /// The entry `key` of a mapping.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.as_map()?.get(key)
    }

    /// The string entry `key` of a mapping.
    #[must_use]
    pub fn text_of(&self, key: &str) -> Option<&str> {
        self.get(key)?.as_text()
    }

    /// Whether it is the null.
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(&self.data, Data::Literal(text) if matches!(text.as_str(), "null" | "~" | "Null" | "NULL" | ""))
    }

    /// The entries; anything but a mapping becomes an empty one of `origin` first.
    pub fn map_mut(&mut self, origin: &Origin) -> &mut Map {
        if !matches!(self.data, Data::Map(_)) {
            *self = Self::map(origin.clone());
        }
        match &mut self.data {
            Data::Map(map) => Arc::make_mut(map),
            // Made a mapping three lines up.
            _ => unreachable!("a mapping was just put here"),
        }
    }

    /// The items; anything but a list becomes an empty one of `origin` first.
    pub fn list_mut(&mut self, origin: &Origin) -> &mut Vec<Self> {
        if !matches!(self.data, Data::List(_)) {
            *self = Self::list(origin.clone());
        }
        match &mut self.data {
            Data::List(items) => Arc::make_mut(items),
            // Made a list three lines up.
            _ => unreachable!("a list was just put here"),
        }
    }

    /// The mapping at `key`, made with `origin` if it is missing or of another shape.
    pub fn child_map(&mut self, key: &str, origin: &Origin) -> &mut Self {
        let child = self.map_mut(origin).entry(key.to_owned()).or_insert_with(|| Self::map(origin.clone()));
        child.map_mut(origin);
        child
    }

    /// The entries, if it is a mapping.
    pub fn as_map_mut(&mut self) -> Option<&mut Map> {
        match &mut self.data {
            Data::Map(map) => Some(Arc::make_mut(map)),
            _ => None,
        }
    }

    /// The items, if it is a list.
    pub fn as_list_mut(&mut self) -> Option<&mut Vec<Self>> {
        match &mut self.data {
            Data::List(items) => Some(Arc::make_mut(items)),
            _ => None,
        }
    }

    /// The value without its origins.
    #[must_use]
    pub fn to_json(&self) -> Value {
        match &self.data {
            Data::Literal(text) => serde_json::from_str(text).unwrap_or(match text.as_str() {
                "~" | "" => Value::Null,
                other => Value::String(other.to_owned()),
            }),
            Data::Text(text) => Value::String(text.clone()),
            Data::List(items) => Value::Array(items.iter().map(Self::to_json).collect()),
            Data::Map(map) => Value::Object(map.iter().map(|(key, item)| (key.clone(), item.to_json())).collect()),
        }
    }
}

/// A JSON number as PyYAML reads it back: its floats need a point, and a sign in the exponent.
fn literal_number(number: &serde_json::Number) -> String {
    let text = number.to_string();
    let Some((digits, exponent)) = text.split_once(['e', 'E']) else { return text };
    let digits = if digits.contains('.') { digits.to_owned() } else { format!("{digits}.0") };
    let exponent = if exponent.starts_with(['+', '-']) { exponent.to_owned() } else { format!("+{exponent}") };
    format!("{digits}e{exponent}")
}
