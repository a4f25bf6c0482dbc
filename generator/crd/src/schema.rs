//! A CRD's `openAPIV3Schema`, read once into the form that the walk needs.

use crate::cel::Rule;
use crate::format;
use crate::pattern::Pattern;
use indexmap::IndexMap;
use serde_json::{Map, Value};

/// Deeper parts of a schema are ignored. The API server's own limits keep real schemas far below.
const MAX_DEPTH: usize = 128;

/// An `openAPIV3Schema` with its patterns and rules. Patterns and rules compile when an object first needs them, and
/// only once; the schema can be shared between threads.
#[derive(Debug)]
pub struct CompiledSchema {
    pub(crate) root: Schema,
}

impl CompiledSchema {
    /// Reads the `openAPIV3Schema` of one CRD version, given as JSON. It never fails: parts that are not understood
    /// constrain nothing, and rules that do not compile show up in [`Verdict::not_checked`].
    #[must_use]
    pub fn new(open_api_v3_schema: &Value) -> Self {
        let mut root = Schema::read(open_api_v3_schema, 0);
        root.has_meta = true;
        Self { root }
    }

    /// The rules of the whole schema that cannot be checked here, as (path inside the schema, rule, reason).
    /// Compiles every rule: meant for tests and for authors of a CRD, not for every object.
    #[must_use]
    pub fn uncheckable_rules(&self) -> Vec<(String, String, String)> {
        let mut found = Vec::new();
        self.root.collect_uncheckable(&mut String::new(), &mut found);
        found
    }
}

/// The JSON type that a node asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Object,
    Array,
    String,
    Integer,
    Number,
    Boolean,
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Object => "object",
            Self::Array => "array",
            Self::String => "string",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Boolean => "boolean",
        }
    }

    fn read(name: &str) -> Option<Self> {
        Some(match name {
            "object" => Self::Object,
            "array" => Self::Array,
            "string" => Self::String,
            "integer" => Self::Integer,
            "number" => Self::Number,
            "boolean" => Self::Boolean,
            _ => return None,
        })
    }
}

/// How the items of a list relate to each other (`x-kubernetes-list-type`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum ListType {
    /// One value; a change replaces all of it.
    #[default]
    Atomic,
    /// Items are unique as whole values; one that occurs twice is refused.
    Set,
    /// Items are told apart by these fields.
    Map(Vec<String>),
}

/// One node of the schema.
#[derive(Debug, Default)]
pub(crate) struct Schema {
    pub(crate) kind: Option<Kind>,
    pub(crate) int_or_string: bool,
    pub(crate) nullable: bool,
    pub(crate) format: Option<String>,
    pub(crate) preserve_unknown: bool,
    pub(crate) embedded: bool,
    pub(crate) list_type: ListType,
    pub(crate) properties: IndexMap<String, Schema>,
    /// The schema of values whose key is not in `properties`.
    pub(crate) additional: Option<Box<Schema>>,
    pub(crate) items: Option<Box<Schema>>,
    pub(crate) required: Vec<String>,
    pub(crate) values: Vec<Value>,
    pub(crate) pattern: Option<Pattern>,
    pub(crate) bounds: Option<Box<Bounds>>,
    pub(crate) parts: Option<Box<Parts>>,
    pub(crate) default: Option<Box<Value>>,
    pub(crate) rules: Vec<Rule>,
    /// Whether this is the root: it has type and metadata whatever it says.
    pub(crate) has_meta: bool,
    /// Whether this node or one below it has rules, so that the walk can pass by the others.
    pub(crate) any_rules: bool,
}

/// How large a value may be. Most nodes bound nothing, so it is kept apart from them.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Bounds {
    pub(crate) maximum: Option<f64>,
    pub(crate) exclusive_maximum: bool,
    pub(crate) minimum: Option<f64>,
    pub(crate) exclusive_minimum: bool,
    pub(crate) multiple_of: Option<f64>,
    pub(crate) max_length: Option<u64>,
    pub(crate) min_length: Option<u64>,
    pub(crate) max_items: Option<u64>,
    pub(crate) min_items: Option<u64>,
    pub(crate) max_properties: Option<u64>,
    pub(crate) min_properties: Option<u64>,
}

/// The schemas that a value has to fit beside its own. Few nodes have any.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    pub(crate) all_of: Vec<Schema>,
    pub(crate) any_of: Vec<Schema>,
    pub(crate) one_of: Vec<Schema>,
    pub(crate) not: Option<Box<Schema>>,
}

impl Bounds {
    const NONE: &Self = &Self {
        maximum: None,
        exclusive_maximum: false,
        minimum: None,
        exclusive_minimum: false,
        multiple_of: None,
        max_length: None,
        min_length: None,
        max_items: None,
        min_items: None,
        max_properties: None,
        min_properties: None,
    };

    fn read(map: &Map<String, Value>) -> Option<Box<Self>> {
        let flag = |key: &str| map.get(key).and_then(Value::as_bool).unwrap_or(false);
        let number = |key: &str| map.get(key).and_then(Value::as_f64);
        let bounds = Self {
            maximum: number("maximum"),
            exclusive_maximum: flag("exclusiveMaximum"),
            minimum: number("minimum"),
            exclusive_minimum: flag("exclusiveMinimum"),
            multiple_of: number("multipleOf"),
            max_length: count(map, "maxLength"),
            min_length: count(map, "minLength"),
            max_items: count(map, "maxItems"),
            min_items: count(map, "minItems"),
            max_properties: count(map, "maxProperties"),
            min_properties: count(map, "minProperties"),
        };
        (bounds != Self::default()).then(|| Box::new(bounds))
    }
}

impl Parts {
    fn is_empty(&self) -> bool {
        self.all_of.is_empty() && self.any_of.is_empty() && self.one_of.is_empty() && self.not.is_none()
    }
}

impl Schema {
    /// How large a value may be.
    pub(crate) fn bounds(&self) -> &Bounds {
        self.bounds.as_deref().unwrap_or(Bounds::NONE)
    }

    /// The other schemas that a value has to fit; `None` where there are none.
    pub(crate) fn parts(&self) -> Option<&Parts> {
        self.parts.as_deref()
    }

    fn read(value: &Value, depth: usize) -> Self {
        let Some(map) = value.as_object().filter(|_| depth < MAX_DEPTH) else {
            return Self::default();
        };
        let child = |key: &str| map.get(key).filter(|v| v.is_object()).map(|v| Box::new(Self::read(v, depth + 1)));
        let list = |key: &str| -> Vec<Self> {
            let items = map.get(key).and_then(Value::as_array);
            items.into_iter().flatten().map(|item| Self::read(item, depth + 1)).collect()
        };
        let flag = |key: &str| map.get(key).and_then(Value::as_bool).unwrap_or(false);
        let int_or_string = flag("x-kubernetes-int-or-string");
        let properties: IndexMap<String, Self> = map
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
            .map(|(name, schema)| (name.clone(), Self::read(schema, depth + 1)))
            .collect();
        let kind = text(map, "type").and_then(Kind::read);
        let parts = Parts { all_of: list("allOf"), any_of: list("anyOf"), one_of: list("oneOf"), not: child("not") };
        let mut schema = Self {
            kind,
            int_or_string,
            nullable: flag("nullable"),
            format: text(map, "format").filter(|f| supported_format(kind, f)).map(str::to_owned),
            preserve_unknown: flag("x-kubernetes-preserve-unknown-fields"),
            embedded: flag("x-kubernetes-embedded-resource"),
            list_type: list_type(map),
            properties,
            additional: match map.get("additionalProperties") {
                Some(Value::Bool(true)) => Some(Box::new(Self { preserve_unknown: true, ..Self::default() })),
                _ => child("additionalProperties"),
            },
            items: child("items"),
            required: strings(map, "required"),
            values: map.get("enum").and_then(Value::as_array).cloned().unwrap_or_default(),
            pattern: text(map, "pattern").filter(|p| !p.is_empty()).map(Pattern::new),
            default: map.get("default").filter(|v| !v.is_null()).cloned().map(Box::new),
            bounds: Bounds::read(map),
            parts: (!parts.is_empty()).then(|| Box::new(parts)),
            rules: map
                .get("x-kubernetes-validations")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .filter_map(Rule::read)
                .collect(),
            has_meta: false,
            any_rules: false,
        };
        schema.any_rules = !schema.rules.is_empty()
            || schema.children().any(|child| child.any_rules)
            || schema.parts().is_some_and(|parts| parts.all_of.iter().any(|part| part.any_rules));
        schema
    }

    fn children(&self) -> impl Iterator<Item = &Self> {
        self.properties.values().chain(self.additional.as_deref()).chain(self.items.as_deref())
    }

    /// The schema of the field or map value `key`.
    pub(crate) fn field(&self, key: &str) -> Option<&Self> {
        self.properties.get(key).or(self.additional.as_deref())
    }

    /// The type names as the API server prints them.
    pub(crate) fn type_names(&self) -> &'static str {
        if self.int_or_string { "integer,string" } else { self.kind.map_or("", Kind::name) }
    }

    fn collect_uncheckable(&self, path: &mut String, found: &mut Vec<(String, String, String)>) {
        for rule in &self.rules {
            if let Some(reason) = rule.uncheckable() {
                found.push((path.clone(), rule.source.clone(), reason));
            }
        }
        let mut enter = |name: &str, schema: &Self| {
            let length = path.len();
            path.push_str(name);
            schema.collect_uncheckable(path, found);
            path.truncate(length);
        };
        for (name, schema) in &self.properties {
            enter(&format!(".{name}"), schema);
        }
        if let Some(schema) = &self.additional {
            enter("[*]", schema);
        }
        if let Some(schema) = &self.items {
            enter("[]", schema);
        }
        for schema in self.parts().into_iter().flat_map(|parts| &parts.all_of) {
            enter("", schema);
        }
    }
}

fn text<'m>(map: &'m Map<String, Value>, key: &str) -> Option<&'m str> {
    map.get(key).and_then(Value::as_str)
}

fn count(map: &Map<String, Value>, key: &str) -> Option<u64> {
    let value = map.get(key)?;
    // A bound may have passed through a float on its way into JSON (`1.0`).
    value.as_u64().or_else(|| value.as_f64().filter(|f| *f >= 0.0 && f.fract() == 0.0).map(|f| f as u64))
}

fn strings(map: &Map<String, Value>, key: &str) -> Vec<String> {
    let items = map.get(key).and_then(Value::as_array);
    items.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn list_type(map: &Map<String, Value>) -> ListType {
    match text(map, "x-kubernetes-list-type") {
        Some("set") => ListType::Set,
        Some("map") => ListType::Map(strings(map, "x-kubernetes-list-map-keys")),
        _ => ListType::Atomic,
    }
}

/// The API server ignores formats that it does not know for the type.
fn supported_format(kind: Option<Kind>, format: &str) -> bool {
    match kind {
        None | Some(Kind::String) => format::is_known(format),
        Some(Kind::Integer) => matches!(format, "int32" | "int64"),
        Some(Kind::Number) => matches!(format, "float" | "double"),
        _ => false,
    }
}
