//! Values of CEL, and how a JSON value becomes one under its schema.

use super::eval::{Env, EvalResult, Fail};
use super::library::semver::Semver;
use super::net::Cidr;
use super::time::{Timestamp, parse_date, parse_duration_loosely};
use super::url::Url;
use crate::quantity::Quantity;
use crate::schema::{Kind, ListType, Schema};
use serde_json::Value;
use std::borrow::Cow;
use std::cmp::Ordering;
use std::net::IpAddr;
use std::rc::Rc;
use std::sync::LazyLock;

pub(crate) static ATOMIC: ListType = ListType::Atomic;

/// What rules see of the metadata of a resource: its names, and nothing else.
static METADATA: LazyLock<Schema> = LazyLock::new(|| {
    let mut schema = Schema { kind: Some(Kind::Object), ..Schema::default() };
    for name in ["name", "generateName"] {
        schema.properties.insert(name.to_owned(), Schema { kind: Some(Kind::String), ..Schema::default() });
    }
    schema
});
static TEXT: LazyLock<Schema> = LazyLock::new(|| Schema { kind: Some(Kind::String), ..Schema::default() });

/// A value. Objects and lists of the checked object are converted when they are looked into.
#[derive(Clone, Debug)]
pub(crate) enum Val<'a> {
    Null,
    Bool(bool),
    Int(i64),
    UInt(u64),
    Double(f64),
    Str(Cow<'a, str>),
    Bytes(Rc<Vec<u8>>),
    /// A span of time in nanoseconds.
    Duration(i64),
    Timestamp(Timestamp),
    List(Rc<Vec<Val<'a>>>, &'a ListType),
    Map(Rc<Vec<(Val<'a>, Val<'a>)>>),
    /// An object or list of the checked object.
    Json(&'a Value, &'a Schema),
    Type(&'static str),
    Optional(Option<Rc<Val<'a>>>),
    Quantity(Quantity),
    Semver(Rc<Semver>),
    Url(Rc<Url>),
    Ip(IpAddr),
    Cidr(Cidr),
    Format(&'static str),
}

impl<'a> Val<'a> {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Str(Cow::Owned(text.into()))
    }

    pub(crate) fn list(items: Vec<Self>) -> Self {
        Self::List(Rc::new(items), &ATOMIC)
    }

    pub(crate) fn some(value: Self) -> Self {
        Self::Optional(Some(Rc::new(value)))
    }

    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "null_type",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::UInt(_) => "uint",
            Self::Double(_) => "double",
            Self::Str(_) => "string",
            Self::Bytes(_) => "bytes",
            Self::Duration(_) => "google.protobuf.Duration",
            Self::Timestamp(_) => "google.protobuf.Timestamp",
            Self::List(..) | Self::Json(Value::Array(_), _) => "list",
            Self::Map(_) | Self::Json(..) => "map",
            Self::Type(_) => "type",
            Self::Optional(_) => "optional_type",
            Self::Quantity(_) => "kubernetes.Quantity",
            Self::Semver(_) => "kubernetes.Semver",
            Self::Url(_) => "kubernetes.URL",
            Self::Ip(_) => "net.IP",
            Self::Cidr(_) => "net.CIDR",
            Self::Format(_) => "kubernetes.NamedFormat",
        }
    }

    /// The number of items of a list; `None` for everything else.
    pub(crate) fn list_len(&self) -> Option<usize> {
        match self {
            Self::List(items, _) => Some(items.len()),
            Self::Json(Value::Array(items), _) => Some(items.len()),
            _ => None,
        }
    }

    /// The item of a list.
    pub(crate) fn item(&self, env: &Env<'a>, position: usize) -> EvalResult<'a> {
        let beyond = || Fail::Error(format!("index out of bounds: {position}"));
        match self {
            Self::List(items, _) => items.get(position).cloned().ok_or_else(beyond),
            Self::Json(Value::Array(items), schema) => {
                let item = items.get(position).ok_or_else(beyond)?;
                let schema = schema.items.as_deref().ok_or_else(|| Fail::undecidable("a list without item schema"))?;
                convert(env, item, schema)
            }
            _ => Err(Fail::no_overload()),
        }
    }

    /// All items of a list.
    pub(crate) fn items(&self, env: &Env<'a>) -> Result<Vec<Self>, Fail> {
        let count = self.list_len().ok_or_else(Fail::no_overload)?;
        (0..count).map(|position| self.item(env, position)).collect()
    }

    pub(crate) fn list_type(&self) -> &'a ListType {
        match self {
            Self::List(_, list_type) => list_type,
            Self::Json(_, schema) => &schema.list_type,
            _ => &ATOMIC,
        }
    }

    /// The keys of a map, with the number of entries; `None` for everything else.
    pub(crate) fn keys(&self) -> Option<Vec<Self>> {
        match self {
            Self::Map(entries) => Some(entries.iter().map(|(key, _)| key.clone()).collect()),
            Self::Json(Value::Object(map), _) => Some(map.keys().map(|key| Self::Str(Cow::Borrowed(key))).collect()),
            _ => None,
        }
    }

    /// The value of a map under a key, if it is there.
    pub(crate) fn lookup(&self, env: &Env<'a>, key: &Self) -> Result<Option<Self>, Fail> {
        match self {
            Self::Map(entries) => {
                for (name, value) in entries.iter() {
                    if equal(env, name, key)? {
                        return Ok(Some(value.clone()));
                    }
                }
                Ok(None)
            }
            Self::Json(Value::Object(_), _) => match key {
                Self::Str(name) => self.field(env, name, name),
                _ => Ok(None),
            },
            _ => Err(Fail::no_overload()),
        }
    }

    /// The field of an object or the value of a map. `raw` is the name as the rule has it, `plain` without escapes.
    pub(crate) fn field(&self, env: &Env<'a>, raw: &str, plain: &str) -> Result<Option<Self>, Fail> {
        match self {
            Self::Json(Value::Object(map), schema) => {
                let (name, schema) = field_schema(schema, raw, plain)?;
                match map.get(name) {
                    None => Ok(None),
                    Some(value) => convert(env, value, schema).map(Some),
                }
            }
            Self::Map(_) => self.lookup(env, &Self::text(raw)),
            Self::Optional(_) => Err(Fail::undecidable("a field of an optional value")),
            _ => Err(Fail::no_overload()),
        }
    }
}

fn field_schema<'a, 'n>(schema: &'a Schema, raw: &'n str, plain: &'n str) -> Result<(&'n str, &'a Schema), Fail> {
    if schema.has_meta || schema.embedded {
        match plain {
            "metadata" => return Ok((plain, &METADATA)),
            "apiVersion" | "kind" => return Ok((plain, &TEXT)),
            _ => {}
        }
    }
    for name in [plain, raw] {
        if let Some(property) = schema.properties.get(name) {
            return Ok((name, property));
        }
    }
    // The keys of a map are not escaped.
    match schema.additional.as_deref() {
        Some(values) => Ok((raw, values)),
        None => Err(Fail::undecidable(&format!("the schema has no field {raw}"))),
    }
}

/// Turns a JSON value into the CEL value that its schema makes of it.
pub(crate) fn convert<'a>(env: &Env<'a>, value: &'a Value, schema: &'a Schema) -> EvalResult<'a> {
    if env.is_unknown(value) {
        return Err(Fail::Unknown);
    }
    if value.is_null() {
        return Ok(Val::Null);
    }
    let unexpected =
        |wanted: &str| Err(Fail::Error(format!("invalid data, expected {wanted}, got {}", go_type(value))));
    if schema.int_or_string {
        return match value {
            Value::String(text) => Ok(Val::Str(Cow::Borrowed(text))),
            Value::Number(number) => match number.as_i64() {
                Some(integer) => Ok(Val::Int(integer)),
                None => unexpected("XIntOrString value to be either a string or integer"),
            },
            _ => unexpected("XIntOrString value to be either a string or integer"),
        };
    }
    match (schema.kind, value) {
        (Some(Kind::Object), Value::Object(_)) | (Some(Kind::Array), Value::Array(_)) => Ok(Val::Json(value, schema)),
        (None, Value::Object(_)) if schema.embedded || schema.has_meta => Ok(Val::Json(value, schema)),
        (Some(Kind::Object), _) => {
            Err(Fail::Error("invalid data, expected a map for the provided schema with type=object".to_owned()))
        }
        (Some(Kind::Array), _) => {
            Err(Fail::Error("invalid data, expected an array for the provided schema with type=array".to_owned()))
        }
        (Some(Kind::Boolean), Value::Bool(flag)) => Ok(Val::Bool(*flag)),
        (Some(Kind::Boolean), _) => unexpected("bool"),
        (Some(Kind::Integer), Value::Number(number)) if number.as_i64().is_some() => {
            Ok(Val::Int(number.as_i64().unwrap_or_default()))
        }
        (Some(Kind::Integer), _) => unexpected("int"),
        (Some(Kind::Number), Value::Number(number)) => Ok(Val::Double(number.as_f64().unwrap_or_default())),
        (Some(Kind::Number), _) => unexpected("double"),
        (Some(Kind::String), Value::String(text)) => string(schema, text),
        (Some(Kind::String), _) => unexpected("string"),
        (None, _) => Err(Fail::undecidable("a value without type")),
    }
}

fn string<'a>(schema: &Schema, text: &'a str) -> EvalResult<'a> {
    let invalid = || Fail::undecidable(&format!("{text:?} does not convert"));
    Ok(match schema.format.as_deref() {
        Some("date-time" | "datetime") => Val::Timestamp(Timestamp::parse(text, true).ok_or_else(invalid)?),
        Some("date") => {
            let days = parse_date(text).ok_or_else(invalid)?;
            Val::Timestamp(Timestamp::new(days * 86_400, 0).ok_or_else(invalid)?)
        }
        Some("duration") => Val::Duration(parse_duration_loosely(text).ok_or_else(invalid)?),
        Some("byte") => Val::Bytes(Rc::new(decode_base64(text).ok_or_else(invalid)?)),
        _ => Val::Str(Cow::Borrowed(text)),
    })
}

fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count) = (0_u32, 0);
    for b in text.bytes().take_while(|b| *b != b'=') {
        let value = match b {
            b'A'..=b'Z' => b - b'A',
            b'a'..=b'z' => b - b'a' + 26,
            b'0'..=b'9' => b - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
            bits &= (1 << count) - 1;
        }
    }
    Some(out)
}

fn go_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "nil",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.as_i64().is_some() => "int64",
        Value::Number(_) => "float64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}

/// CEL's `==`: numbers by value, everything else only within its type.
pub(crate) fn equal<'a>(env: &Env<'a>, left: &Val<'a>, right: &Val<'a>) -> Result<bool, Fail> {
    env.step()?;
    if let Some(order) = compare_numbers(left, right) {
        return Ok(order == Some(Ordering::Equal));
    }
    Ok(match (left, right) {
        (Val::Null, Val::Null) => true,
        (Val::Bool(a), Val::Bool(b)) => a == b,
        (Val::Str(a), Val::Str(b)) => a == b,
        (Val::Bytes(a), Val::Bytes(b)) => a == b,
        (Val::Duration(a), Val::Duration(b)) => a == b,
        (Val::Timestamp(a), Val::Timestamp(b)) => a == b,
        (Val::Type(a), Val::Type(b)) => a == b,
        (Val::Quantity(a), Val::Quantity(b)) => a == b,
        (Val::Semver(a), Val::Semver(b)) => a.compare(b) == Ordering::Equal,
        (Val::Url(a), Val::Url(b)) => a == b,
        (Val::Ip(a), Val::Ip(b)) => a == b,
        (Val::Cidr(a), Val::Cidr(b)) => a == b,
        (Val::Format(a), Val::Format(b)) => a == b,
        (Val::Optional(a), Val::Optional(b)) => match (a, b) {
            (None, None) => true,
            (Some(a), Some(b)) => equal(env, a, b)?,
            _ => false,
        },
        _ => return collections_equal(env, left, right),
    })
}

fn collections_equal<'a>(env: &Env<'a>, left: &Val<'a>, right: &Val<'a>) -> Result<bool, Fail> {
    if let (Some(a), Some(b)) = (left.list_len(), right.list_len()) {
        if a != b {
            return Ok(false);
        }
        let (ours, theirs) = (left.items(env)?, right.items(env)?);
        // Sets and keyed lists have no order. Which side decides is the left one.
        if *left.list_type() != ListType::Atomic {
            for item in &ours {
                if !contains(env, &theirs, item)? {
                    return Ok(false);
                }
            }
            return Ok(true);
        }
        for (a, b) in ours.iter().zip(&theirs) {
            if !equal(env, a, b)? {
                return Ok(false);
            }
        }
        return Ok(true);
    }
    if let (Some(ours), Some(theirs)) = (left.keys(), right.keys()) {
        if ours.len() != theirs.len() {
            return Ok(false);
        }
        for key in &ours {
            let (Some(a), Some(b)) = (left.lookup(env, key)?, right.lookup(env, key)?) else { return Ok(false) };
            if !equal(env, &a, &b)? {
                return Ok(false);
            }
        }
        return Ok(true);
    }
    Ok(false)
}

pub(crate) fn contains<'a>(env: &Env<'a>, items: &[Val<'a>], wanted: &Val<'a>) -> Result<bool, Fail> {
    for item in items {
        if equal(env, item, wanted)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The order of two numbers; the outer `None` if they are not both numbers, the inner one if there is none (NaN).
fn compare_numbers(left: &Val<'_>, right: &Val<'_>) -> Option<Option<Ordering>> {
    Some(match (left, right) {
        (Val::Int(a), Val::Int(b)) => Some(a.cmp(b)),
        (Val::UInt(a), Val::UInt(b)) => Some(a.cmp(b)),
        (Val::Int(a), Val::UInt(b)) => Some(i128::from(*a).cmp(&i128::from(*b))),
        (Val::UInt(a), Val::Int(b)) => Some(i128::from(*a).cmp(&i128::from(*b))),
        (Val::Double(a), Val::Double(b)) => a.partial_cmp(b),
        (Val::Int(a), Val::Double(b)) => compare_to_float(i128::from(*a), *b),
        (Val::UInt(a), Val::Double(b)) => compare_to_float(i128::from(*a), *b),
        (Val::Double(a), Val::Int(b)) => compare_to_float(i128::from(*b), *a).map(Ordering::reverse),
        (Val::Double(a), Val::UInt(b)) => compare_to_float(i128::from(*b), *a).map(Ordering::reverse),
        _ => return None,
    })
}

fn compare_to_float(integer: i128, float: f64) -> Option<Ordering> {
    if float.is_nan() {
        return None;
    }
    if float.abs() >= 2f64.powi(65) {
        return Some(if float > 0.0 { Ordering::Less } else { Ordering::Greater });
    }
    let whole = float.trunc() as i128;
    Some(integer.cmp(&whole).then_with(|| 0.0_f64.partial_cmp(&float.fract()).unwrap_or(Ordering::Equal)))
}

/// The order of two values of one ordered type, or of two numbers; `Ok(None)` for NaN.
pub(crate) fn compare(left: &Val<'_>, right: &Val<'_>) -> Result<Option<Ordering>, Fail> {
    if let Some(order) = compare_numbers(left, right) {
        return Ok(order);
    }
    Ok(Some(match (left, right) {
        (Val::Str(a), Val::Str(b)) => a.cmp(b),
        (Val::Bool(a), Val::Bool(b)) => a.cmp(b),
        (Val::Bytes(a), Val::Bytes(b)) => a.cmp(b),
        (Val::Duration(a), Val::Duration(b)) => a.cmp(b),
        (Val::Timestamp(a), Val::Timestamp(b)) => a.cmp(b),
        _ => return Err(Fail::no_overload()),
    }))
}
