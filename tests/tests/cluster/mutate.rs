//! Damaged objects: what people and tools write by mistake, made from good objects with the schema in hand, so that a
//! change hits what the schema says there. The same seed makes the same objects.

use serde_json::{Map, Value, json};

/// A small generator of pseudo-random numbers (splitmix64).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`, which is not 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).unwrap_or_default()
    }

    pub(crate) fn pick<'v, T>(&mut self, from: &'v [T]) -> &'v T {
        &from[self.below(from.len())]
    }
}

/// The kinds of damage that issue no. 3 asks for, and `Grow`, which reaches fields that no sample has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Damage {
    Missing,
    Null,
    WrongType,
    Unknown,
    OutOfBounds,
    DoubledItem,
    Grow,
}

pub(crate) const DAMAGES: [Damage; 7] = [
    Damage::Missing,
    Damage::Null,
    Damage::WrongType,
    Damage::Unknown,
    Damage::OutOfBounds,
    Damage::DoubledItem,
    Damage::Grow,
];

/// A place in an object (JSON pointer) and its schema.
struct Place<'s> {
    pointer: String,
    schema: &'s Value,
}

/// Changes one place below `/spec` of `object`. Says where; `None` if this object has no place for this damage.
pub(crate) fn damage(kind: Damage, object: &mut Value, schema: &Value, random: &mut Random) -> Option<String> {
    let mut places = Vec::new();
    collect(&object["spec"], &schema["properties"]["spec"], "/spec".to_owned(), &mut places);
    let fits = |place: &&Place<'_>| {
        let value = object.pointer(&place.pointer);
        match kind {
            Damage::Missing | Damage::Null | Damage::WrongType => place.pointer != "/spec" || kind != Damage::Missing,
            Damage::Unknown | Damage::Grow => value.is_some_and(Value::is_object),
            Damage::OutOfBounds => !beyond(value, place.schema).is_empty(),
            Damage::DoubledItem => value.and_then(Value::as_array).is_some_and(|list| !list.is_empty()),
        }
    };
    let fitting: Vec<_> = places.iter().filter(fits).collect();
    if fitting.is_empty() {
        return None;
    }
    let place = random.pick(&fitting);
    let value = object.pointer_mut(&place.pointer)?;
    let mut note = place.pointer.clone();
    match kind {
        Damage::Missing => {
            let (parent, last) = place.pointer.rsplit_once('/')?;
            match object.pointer_mut(parent)? {
                Value::Object(fields) => drop(fields.shift_remove(&unescape(last))),
                Value::Array(items) => drop(items.remove(last.parse().ok()?)),
                _ => return None,
            }
        }
        Damage::Null => *value = Value::Null,
        Damage::WrongType => *value = other_type(value, random),
        Damage::Unknown => {
            let fields = value.as_object_mut()?;
            let name = match fields.keys().next() {
                Some(known) if random.below(2) == 0 => format!("{known}s"),
                _ => "unheardOf".to_owned(),
            };
            note = format!("{note}/{name}");
            fields.insert(name, json!(1));
        }
        Damage::OutOfBounds => *value = random.pick(&beyond(Some(value), place.schema)).clone(),
        Damage::DoubledItem => {
            let list = value.as_array_mut()?;
            let item = random.pick(list).clone();
            list.push(item);
        }
        Damage::Grow => {
            let fields = value.as_object_mut()?;
            let known = place.schema["properties"].as_object()?;
            let absent: Vec<_> = known.iter().filter(|(name, _)| !fields.contains_key(*name)).collect();
            if absent.is_empty() {
                return None;
            }
            let (name, schema) = random.pick(&absent);
            note = format!("{note}/{name}");
            fields.insert((*name).clone(), example(schema, random, 0));
        }
    }
    Some(note)
}

fn collect<'s>(value: &Value, schema: &'s Value, pointer: String, into: &mut Vec<Place<'s>>) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                let below = match schema["properties"].get(name) {
                    Some(declared) => declared,
                    None => &schema["additionalProperties"],
                };
                collect(field, below, format!("{pointer}/{}", escape(name)), into);
            }
        }
        Value::Array(items) => {
            for (position, item) in items.iter().enumerate() {
                collect(item, &schema["items"], format!("{pointer}/{position}"), into);
            }
        }
        _ => {}
    }
    into.push(Place { pointer, schema });
}

fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

fn unescape(name: &str) -> String {
    name.replace("~1", "/").replace("~0", "~")
}

/// A value of another type than `value` has.
fn other_type(value: &Value, random: &mut Random) -> Value {
    let all = [
        json!("text"),
        json!(""),
        json!(7),
        json!(1.5),
        json!(true),
        json!({}),
        json!({"a": "b"}),
        json!([]),
        json!(["a"]),
        json!([{}]),
    ];
    let kind = std::mem::discriminant(value);
    let others: Vec<_> =
        all.into_iter().filter(|other| std::mem::discriminant(other) != kind || other == &json!(1.5)).collect();
    random.pick(&others).clone()
}

/// Values of the right type that the schema forbids, or that stand just at the edge.
fn beyond(value: Option<&Value>, schema: &Value) -> Vec<Value> {
    let mut found = Vec::new();
    match value {
        Some(Value::String(text)) => {
            if let Some(most) = schema["maxLength"].as_u64().and_then(|most| usize::try_from(most).ok()) {
                found.push(json!("x".repeat(most + 1)));
                found.push(json!("é".repeat(most)));
            }
            if schema["minLength"].is_u64() || schema["enum"].is_array() {
                found.push(json!(""));
            }
            if schema["enum"].is_array() {
                found.push(json!(text.to_uppercase() + "x"));
            }
            if schema["pattern"].is_string() {
                found.extend([json!(" "), json!(format!("{text}\n")), json!("-é-")]);
            }
            if schema["x-kubernetes-int-or-string"] == true {
                found.extend([json!("10GB"), json!(-1), json!("0.1")]);
            }
        }
        Some(Value::Number(_)) => {
            for bound in ["minimum", "maximum"] {
                if let Some(bound) = schema[bound].as_f64() {
                    #[expect(clippy::cast_possible_truncation, reason = "bounds of the CRD are small integers")]
                    let bound = bound as i64;
                    found.extend([json!(bound - 1), json!(bound), json!(bound + 1)]);
                }
            }
            if schema["format"] == "int32" {
                found.extend([json!(2_147_483_648_i64), json!(-2_147_483_649_i64)]);
            }
            if schema["type"] == "integer" {
                found.extend([json!(0.5), json!(u64::MAX), json!(2.0)]);
            }
        }
        Some(Value::Array(list)) => {
            if schema["minItems"].is_u64() {
                found.push(json!([]));
            }
            if let (Some(most), Some(item)) = (schema["maxItems"].as_u64(), list.first()) {
                let most = usize::try_from(most).unwrap_or_default();
                found.push(Value::Array(vec![item.clone(); most + 1]));
            }
        }
        Some(Value::Object(fields)) => {
            if schema["minProperties"].is_u64() {
                found.push(json!({}));
            }
            if let (Some(most), Some(one)) = (schema["maxProperties"].as_u64(), fields.values().next()) {
                let many: Map<_, _> = (0..=most).map(|number| (format!("k{number}"), one.clone())).collect();
                found.push(Value::Object(many));
            }
        }
        _ => {}
    }
    found
}

/// A value that a schema describes; mostly a valid one.
fn example(schema: &Value, random: &mut Random, depth: usize) -> Value {
    if let Some(values) = schema["enum"].as_array() {
        return random.pick(values).clone();
    }
    match schema["type"].as_str() {
        Some("object") => {
            let mut fields = Map::new();
            for (name, field) in schema["properties"].as_object().into_iter().flatten() {
                let required = schema["required"].as_array().is_some_and(|names| names.contains(&json!(name)));
                if required || (depth < 4 && random.below(3) == 0) {
                    fields.insert(name.clone(), example(field, random, depth + 1));
                }
            }
            if schema["additionalProperties"].is_object() {
                fields.insert("a-key".to_owned(), example(&schema["additionalProperties"], random, depth + 1));
            }
            Value::Object(fields)
        }
        Some("array") => {
            let count = 1 + random.below(2);
            (0..count).map(|_| example(&schema["items"], random, depth + 1)).collect()
        }
        Some("integer") => {
            let least = schema["minimum"].as_f64().unwrap_or(1.0);
            #[expect(clippy::cast_possible_truncation, reason = "bounds of the CRD are small integers")]
            let least = least as i64;
            json!(least + i64::try_from(random.below(3)).unwrap_or_default())
        }
        Some("number") => json!(1.5),
        Some("boolean") => json!(random.below(2) == 0),
        Some("string") => json!(random.pick(&["a", "name-1", "example.org/x:1", "k=v"])),
        _ if schema["x-kubernetes-int-or-string"] == true => {
            random.pick(&[json!(1), json!("10Gi"), json!("50%")]).clone()
        }
        _ => json!({"any": "thing"}),
    }
}
