//! A llama-stack config as values, and as what the server reads once the environment is filled in.

use super::environment::{Env, Source};
use crate::document::{Shape, Tree, expand};
use llsd_yaml::{Node, Resolved, Rules};
use regex::Regex;
use serde_json::{Map, Number, Value};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::LazyLock;

/// Reads a config as llama-stack does. `None` if it is no YAML mapping, or expands beyond bounds.
pub(super) fn read(text: &str) -> Option<Value> {
    let document = llsd_yaml::parse_document(text);
    if document.strict_error().is_some() {
        return None;
    }
    let root = document.root().filter(Node::is_mapping)?;
    value(&expand(root))
}

// As deep as `expand` lets a tree become.
fn value(tree: &Tree<'_>) -> Option<Value> {
    Some(match &tree.shape {
        Shape::Exceeded | Shape::Dangling => return None,
        Shape::Scalar => match tree.node.resolve(Rules::PyYaml) {
            Resolved::Null => Value::Null,
            Resolved::Bool(flag) => Value::Bool(flag),
            Resolved::Int(number) => integer(number),
            Resolved::Float(number) => {
                Number::from_f64(number).map_or_else(|| number.to_string().into(), Value::Number)
            }
            Resolved::Str => Value::String(tree.node.value().into_owned()),
        },
        Shape::List(items) => Value::Array(items.iter().map(value).collect::<Option<_>>()?),
        Shape::Map(entries) => {
            let pairs = entries.iter().map(|entry| Some((entry.key.clone(), value(&entry.value)?)));
            Value::Object(pairs.collect::<Option<Map<_, _>>>()?)
        }
    })
}

/// A number; one beyond 64 bits stays a text, and is compared as one.
fn integer(number: i128) -> Value {
    i64::try_from(number).map_or_else(|_| number.to_string().into(), Value::from)
}

/// Every form of `${env.…}` that llama-stack 0.4 to 0.7 replaces; it leaves any other text as it is.
static REFERENCE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\$\{env\.([A-Z0-9_]+)(?::([=+])([^}]*))?\}").ok());

/// The forms that versions before 0.3 had for a default: `${env.X:d}` and, never read by any, `${env.X:-d}`.
static OLD_REFERENCE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\$\{env\.([A-Z0-9_]+):-?([^=+}-][^}]*)?\}").ok());

/// The config with the older form of a default replaced by `:=`, and each text that was, with what it became.
pub(super) fn renewed(value: &Value) -> (Value, Vec<(String, String)>) {
    let mut found = Vec::new();
    let value = renew(value, &mut found);
    found.sort();
    found.dedup();
    (value, found)
}

fn renew(value: &Value, found: &mut Vec<(String, String)>) -> Value {
    match value {
        Value::String(text) => {
            let Some(pattern) = OLD_REFERENCE.as_ref().filter(|pattern| pattern.is_match(text)) else {
                return value.clone();
            };
            let new = pattern.replace_all(text, "$${env.$1:=$2}").into_owned();
            found.push((text.clone(), new.clone()));
            new.into()
        }
        Value::Array(items) => items.iter().map(|item| renew(item, found)).collect(),
        Value::Object(fields) => fields.iter().map(|(name, field)| (name.clone(), renew(field, found))).collect(),
        other => other.clone(),
    }
}

/// The variable that a text consists of, if it is one reference and nothing else: `${env.X}` or `${env.X:=d}`.
pub(super) fn sole_variable(text: &str) -> Option<&str> {
    let found = REFERENCE.as_ref()?.captures(text)?;
    let whole = found.get(0)?.as_str() == text && found.get(2).map(|sign| sign.as_str()) != Some("+");
    found.get(1).filter(|_| whole).map(|name| name.as_str())
}

/// The variables that a value refers to, in any of its strings.
pub(super) fn variables(value: &Value) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::String(text) => {
                let found = REFERENCE.iter().flat_map(|pattern| pattern.captures_iter(text));
                names.extend(found.filter_map(|reference| Some(reference.get(1)?.as_str().to_owned())));
            }
            Value::Array(items) => open.extend(items),
            Value::Object(fields) => open.extend(fields.values()),
            _ => {}
        }
    }
    names
}

/// A part of a text that the server puts together when it starts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Piece {
    /// A text that is known before the server starts.
    Text(String),
    /// The home folder, which `~` at the start of a substituted value stands for.
    Home,
    /// What a variable holds that is not known here.
    Value(Source),
    /// A text, if such a variable is set to something.
    IfSet(Source, String),
    /// What such a variable holds, else a text.
    Or(Source, String),
    /// A variable that nothing sets: the server does not start, unless its image sets it.
    Unset(String),
}

impl fmt::Display for Piece {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let from = |source: &Source| match source {
            Source::Text(text) => text.clone(),
            Source::Secret { name, key } => format!("key {key} of Secret {name}"),
            Source::Elsewhere(from) => from.clone(),
        };
        match self {
            Self::Text(text) => out.write_str(text),
            Self::Home => out.write_str("~"),
            Self::Value(source) => write!(out, "<{}>", from(source)),
            Self::IfSet(source, text) => write!(out, "<{text} if {}>", from(source)),
            Self::Or(source, text) => write!(out, "<{} or {text}>", from(source)),
            Self::Unset(name) => write!(out, "${{env.{name}}}"),
        }
    }
}

/// A value of a config as the server reads it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Effective {
    /// Null, or a text of which substitution leaves nothing: llama-stack reads both as no value.
    Null,
    /// Known; no list, no mapping, not null.
    Known(Value),
    /// A text of which something is not known before the server starts.
    Open(Vec<Piece>),
    List(Vec<Effective>),
    /// A mapping in the order of the text; keys are unique.
    Map(Vec<(String, Effective)>),
}

impl Effective {
    /// The field of a mapping.
    pub(super) fn get(&self, name: &str) -> Option<&Self> {
        let Self::Map(fields) = self else { return None };
        fields.iter().find(|(field, _)| field == name).map(|(_, value)| value)
    }

    /// The entries of a mapping; none for anything else.
    pub(super) fn fields(&self) -> &[(String, Self)] {
        if let Self::Map(fields) = self { fields } else { &[] }
    }

    /// The items of a list; none for anything else.
    pub(super) fn items(&self) -> &[Self] {
        if let Self::List(items) = self { items } else { &[] }
    }

    /// The string, if all of it is known before the server starts.
    pub(super) fn text(&self) -> Option<&str> {
        if let Self::Known(Value::String(text)) = self { Some(text) } else { None }
    }

    /// The plain value, if all of it is known.
    pub(super) fn known(&self) -> Option<Value> {
        Some(match self {
            Self::Null => Value::Null,
            Self::Known(value) => value.clone(),
            Self::Open(_) => return None,
            Self::List(items) => Value::Array(items.iter().map(Self::known).collect::<Option<_>>()?),
            Self::Map(fields) => {
                let fields = fields.iter().map(|(name, value)| Some((name.clone(), value.known()?)));
                Value::Object(fields.collect::<Option<Map<_, _>>>()?)
            }
        })
    }
}

/// A value as the server reads it: `replace_env_vars` of llama-stack, on what is known of the environment. A variable
/// that neither the resource nor the operator sets is taken to be unset.
pub(super) fn effective(value: &Value, env: &Env) -> Effective {
    match value {
        Value::Null => Effective::Null,
        Value::String(text) => substituted(text, env),
        Value::Array(items) => Effective::List(items.iter().map(|item| effective(item, env)).collect()),
        Value::Object(fields) => {
            Effective::Map(fields.iter().map(|(name, field)| (name.clone(), effective(field, env))).collect())
        }
        other => Effective::Known(other.clone()),
    }
}

/// The plain value that the server reads, if all of it is known.
pub(super) fn known(value: &Value, env: &Env) -> Option<Value> {
    effective(value, env).known()
}

fn substituted(text: &str, env: &Env) -> Effective {
    let Some(pattern) = REFERENCE.as_ref().filter(|_| text.contains("${env.")) else {
        return Effective::Known(text.into());
    };
    let mut pieces = Vec::new();
    let mut end = 0;
    for found in pattern.captures_iter(text) {
        let Some(whole) = found.get(0) else { continue };
        let part = |number| found.get(number).map_or("", |part| part.as_str());
        pieces.push(Piece::Text(text[end..whole.start()].to_owned()));
        end = whole.end();
        let default = part(3).to_owned();
        let set = env.get(part(1)).filter(|source| **source != Source::Text(String::new()));
        match (part(2), set) {
            ("+", None) => {}
            ("+", Some(Source::Text(_) | Source::Secret { .. })) | ("=", None) => push_value(default, &mut pieces),
            ("+", Some(source)) => pieces.push(Piece::IfSet(source.clone(), default)),
            (_, Some(Source::Text(value))) => push_value(value.clone(), &mut pieces),
            ("=", Some(source @ Source::Elsewhere(_))) => pieces.push(Piece::Or(source.clone(), default)),
            (_, Some(source)) => pieces.push(Piece::Value(source.clone())),
            (_, None) => pieces.push(Piece::Unset(part(1).to_owned())),
        }
    }
    if end == 0 {
        return Effective::Known(text.into());
    }
    pieces.push(Piece::Text(text[end..].to_owned()));
    let mut joined: Vec<Piece> = Vec::new();
    for piece in pieces {
        match (piece, joined.last_mut()) {
            (Piece::Text(text), _) if text.is_empty() => {}
            (Piece::Text(text), Some(Piece::Text(before))) => before.push_str(&text),
            (piece, _) => joined.push(piece),
        }
    }
    match joined.as_slice() {
        [] => Effective::Null,
        [Piece::Text(text)] => typed(text),
        _ => Effective::Open(joined),
    }
}

/// A substituted value: `os.path.expanduser` is run on each.
fn push_value(text: String, pieces: &mut Vec<Piece>) {
    match text.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/')) {
        Some(rest) => pieces.extend([Piece::Home, Piece::Text(rest.to_owned())]),
        None => pieces.push(Piece::Text(text)),
    }
}

/// The type that llama-stack gives a text that it has substituted in.
fn typed(text: &str) -> Effective {
    let lower = text.to_ascii_lowercase();
    if lower == "true" || lower == "false" {
        return Effective::Known(Value::Bool(lower == "true"));
    }
    // Python's int() and float(): blanks around, and single underscores between digits
    let plain = text.trim();
    let digits = |text: &str| {
        let bytes = text.as_bytes();
        bytes.iter().enumerate().all(|(at, byte)| {
            *byte != b'_'
                || at > 0 && bytes[at - 1].is_ascii_digit() && bytes.get(at + 1).is_some_and(u8::is_ascii_digit)
        })
    };
    if digits(plain) {
        let plain = plain.replace('_', "");
        if let Ok(number) = plain.parse::<i128>() {
            return Effective::Known(integer(number));
        }
        if let Some(number) = plain.parse::<f64>().ok().and_then(Number::from_f64) {
            return Effective::Known(Value::Number(number));
        }
    }
    Effective::Known(text.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read_with(text: &str, env: &[(&str, Source)]) -> Effective {
        let env = env.iter().map(|(name, source)| ((*name).to_owned(), source.clone())).collect();
        effective(&json!(text), &env)
    }

    #[test]
    fn substitution_gives_what_llama_stack_gives() {
        let set = [("A", Source::Text("1".to_owned())), ("E", Source::Text(String::new()))];
        let of = |text: &str| read_with(text, &set);
        for (text, expected) in [
            ("${env.A}", json!(1)),
            ("x${env.A}", json!("x1")),
            ("${env.B:=true}", json!(true)),
            ("${env.E:=1e5}", json!(100_000.0)),
            ("${env.B:=1_000}", json!(1000)),
            ("${env.B:=007}", json!(7)),
            ("${env.A:+on}", json!("on")),
            ("${env.lower:=x}", json!("${env.lower:=x}")),
            ("${env.B:x}", json!("${env.B:x}")),
            ("5", json!("5")),
        ] {
            assert_eq!(of(text), Effective::Known(expected), "{text}");
        }
        for text in ["${env.B:=}", "${env.E:+x}", "${env.B:+}"] {
            assert_eq!(of(text), Effective::Null, "{text}");
        }
        assert_eq!(of("${env.B}"), Effective::Open(vec![Piece::Unset("B".to_owned())]));
        let home = Effective::Open(vec![Piece::Home, Piece::Text("/a/b".to_owned())]);
        assert_eq!(of("${env.B:=~/a}/b"), home);
        assert_eq!(of("~/a"), Effective::Known(json!("~/a")), "a text without a variable is left alone");
    }

    #[test]
    fn what_a_secret_holds_is_no_text() {
        let secret = Source::Secret { name: "s".to_owned(), key: "k".to_owned() };
        let value = read_with("${env.A:=d}", &[("A", secret.clone())]);
        assert_eq!(value, Effective::Open(vec![Piece::Value(secret)]));
        assert_eq!(value.known(), None);
    }

    #[test]
    fn the_older_form_of_a_default_becomes_the_present_one() {
        let (new, found) =
            renewed(&json!({"a": "${env.X:http://v:1}", "b": ["${env.Y:-1}", "${env.Z:=1}", "${env.W:+1}"]}));
        assert_eq!(new, json!({"a": "${env.X:=http://v:1}", "b": ["${env.Y:=1}", "${env.Z:=1}", "${env.W:+1}"]}));
        assert_eq!(found.len(), 2);
    }
}
