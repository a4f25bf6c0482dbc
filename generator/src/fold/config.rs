//! A llama-stack config as values, and the environment that it is read with.

use crate::document::{Shape, Tree, expand};
use llsd_yaml::{Node, Resolved, Rules};
use regex::{Captures, Regex};
use serde_json::{Map, Number, Value};
use std::collections::{BTreeMap, BTreeSet};
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
            Resolved::Int(number) => i64::try_from(number).map_or(Value::Null, Value::from),
            Resolved::Float(number) => Number::from_f64(number).map_or(Value::Null, Value::Number),
            Resolved::Str => Value::String(tree.node.value().into_owned()),
        },
        Shape::List(items) => Value::Array(items.iter().map(value).collect::<Option<_>>()?),
        Shape::Map(entries) => {
            let pairs = entries.iter().map(|entry| Some((entry.key.clone(), value(&entry.value)?)));
            Value::Object(pairs.collect::<Option<Map<_, _>>>()?)
        }
    })
}

/// Where the server has the value of a variable from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// Written in the resource.
    Text(String),
    /// A key of a Secret.
    Secret {
        /// Name of the Secret.
        name: String,
        /// The key.
        key: String,
    },
    /// Anything else, as JSON.
    Elsewhere(String),
}

/// The variables of a container.
pub(super) type Env = BTreeMap<String, Source>;

/// Reads a list of environment variables; of two with one name the last counts.
pub(super) fn environment(list: &Value) -> Env {
    let mut env = Env::new();
    for item in list.as_array().into_iter().flatten() {
        let Some(name) = item.get("name").and_then(Value::as_str) else { continue };
        let source = match item.get("valueFrom") {
            None => Source::Text(item.get("value").and_then(Value::as_str).unwrap_or_default().to_owned()),
            Some(from) => secret_of(from).unwrap_or_else(|| Source::Elsewhere(from.to_string())),
        };
        env.insert(name.to_owned(), source);
    }
    env
}

/// The Secret that a variable comes from, if it must exist: `optional` has no counterpart in a provider.
fn secret_of(from: &Value) -> Option<Source> {
    let reference = from.get("secretKeyRef")?;
    if reference.get("optional") == Some(&Value::Bool(true)) {
        return None;
    }
    let text = |field: &str| reference.get(field).and_then(Value::as_str).map(str::to_owned);
    Some(Source::Secret { name: text("name")?, key: text("key")? })
}

static REFERENCE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\$\{env\.([A-Za-z0-9_]+)(?::([=+])([^}]*))?\}").ok());

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

/// A value with its references replaced by what the server would see. A Secret's value is not known: it becomes its
/// name and key. A variable without value and default stays as it is written: it may come from the image.
pub(super) fn resolved(value: &Value, env: &Env) -> Value {
    match value {
        Value::String(text) => resolved_text(text, env),
        Value::Array(items) => items.iter().map(|item| resolved(item, env)).collect(),
        Value::Object(fields) => fields.iter().map(|(name, field)| (name.clone(), resolved(field, env))).collect(),
        other => other.clone(),
    }
}

fn resolved_text(text: &str, env: &Env) -> Value {
    let Some(pattern) = REFERENCE.as_ref().filter(|_| text.contains("${env.")) else { return text.into() };
    let replaced = pattern.replace_all(text, |found: &Captures<'_>| {
        let part = |number| found.get(number).map_or("", |part| part.as_str());
        let known = match env.get(part(1)) {
            Some(Source::Text(value)) if value.is_empty() => None,
            Some(Source::Text(value)) => Some(value.clone()),
            Some(Source::Secret { name, key }) => Some(format!("secret {name}/{key}")),
            Some(Source::Elsewhere(from)) => Some(format!("value of {from}")),
            None => None,
        };
        match (part(2), known) {
            ("+", Some(_)) | ("=", None) => part(3).to_owned(),
            ("+", None) => String::new(),
            (_, Some(value)) => value,
            _ => part(0).to_owned(),
        }
    });
    // An empty result of a reference is null to llama-stack.
    if replaced.is_empty() { Value::Null } else { replaced.into_owned().into() }
}
