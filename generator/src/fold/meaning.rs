//! Whether two configs mean the same to llama-stack, and where they do not.

use super::config::{Env, resolved};
use crate::catalog::{Catalog, ConfigKey};
use indexmap::IndexMap;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

/// A place at which two configs, or two resources, do not mean the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The place: `providers.inference[vllm].config.max_tokens`.
    pub place: String,
    /// What was there before; `None` if nothing. Values that may be secret are hidden.
    pub before: Option<String>,
    /// What is there now; `None` if nothing.
    pub after: Option<String>,
}

impl fmt::Display for Difference {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.before, &self.after) {
            (Some(before), Some(after)) => write!(out, "{}: {before} becomes {after}", self.place),
            (Some(before), None) => write!(out, "{}: {before} is gone", self.place),
            (None, Some(after)) => write!(out, "{}: {after} is new", self.place),
            (None, None) => write!(out, "{}: the same", self.place),
        }
    }
}

/// A config as what it means: things by name (a provider, a model, an API), each with its values by place.
pub(super) type Meaning = BTreeMap<String, BTreeMap<String, String>>;

/// Which key names an entry of a list of registered resources.
const IDENTITIES: [(&str, &str); 7] = [
    ("models", "model_id"),
    ("shields", "shield_id"),
    ("tool_groups", "toolgroup_id"),
    ("vector_stores", "vector_store_id"),
    ("datasets", "dataset_id"),
    ("scoring_fns", "scoring_fn_id"),
    ("benchmarks", "benchmark_id"),
];

/// What a config means under an environment. Order, defaults that are written out, nulls, and what is switched off
/// mean nothing; nor do the config's version and name.
pub(super) fn meaning(config: &Value, env: &Env, catalog: Option<&Catalog>) -> Meaning {
    let config = resolved(config, env);
    let mut found = Meaning::new();
    let served: Option<Vec<&str>> =
        config.get("apis").and_then(Value::as_array).map(|apis| apis.iter().filter_map(Value::as_str).collect());
    for api in served.iter().flatten() {
        found.entry(format!("apis[{api}]")).or_default().insert(String::new(), "served".to_owned());
    }
    for (name, part) in config.as_object().into_iter().flatten() {
        match name.as_str() {
            "version" | "image_name" | "apis" => {}
            "providers" => providers(part, served.as_deref(), catalog, &mut found),
            "registered_resources" => resources(part, &mut found),
            "server" => {
                let mut values = BTreeMap::new();
                flatten(part, &mut String::new(), &mut values);
                values.retain(|place, value| !(place == ".port" && value == "8321"));
                found.insert(name.clone(), values);
            }
            _ => flatten(part, &mut String::new(), found.entry(name.clone()).or_default()),
        }
    }
    found.retain(|_, values| !values.is_empty());
    found
}

fn providers(lists: &Value, served: Option<&[&str]>, catalog: Option<&Catalog>, found: &mut Meaning) {
    for (api, list) in lists.as_object().into_iter().flatten() {
        if served.is_some_and(|served| !served.contains(&api.as_str())) {
            continue;
        }
        for provider in list.as_array().into_iter().flatten() {
            let Some(id) = provider.get("provider_id").and_then(Value::as_str) else { continue };
            let kind = provider.get("provider_type").and_then(Value::as_str).unwrap_or_default();
            let mut values = BTreeMap::from([(".provider_type".to_owned(), kind.to_owned())]);
            let known = catalog.and_then(|catalog| catalog.provider(api, kind));
            for (key, value) in provider.get("config").and_then(Value::as_object).into_iter().flatten() {
                if !known.and_then(|known| known.config.get(key)).is_some_and(|key| is_default(key, value)) {
                    flatten(value, &mut format!(".config.{key}"), &mut values);
                }
            }
            found.insert(format!("providers.{api}[{id}]"), values);
        }
    }
}

/// Whether a key's value says what its absence says too.
pub(super) fn is_default(key: &ConfigKey, value: &Value) -> bool {
    match &key.default {
        Some(default) => spelled(default) == spelled(value),
        None => value.is_null(),
    }
}

fn resources(lists: &Value, found: &mut Meaning) {
    for (kind, list) in lists.as_object().into_iter().flatten() {
        let identity = IDENTITIES.iter().find(|(list, _)| list == kind).map_or("id", |(_, key)| key);
        for entry in list.as_array().into_iter().flatten() {
            let Some(id) = entry.get(identity).and_then(Value::as_str) else { continue };
            let mut values = BTreeMap::new();
            flatten(entry, &mut String::new(), &mut values);
            values.retain(|place, value| match place.as_str() {
                ".provider_model_id" => value != id,
                ".model_type" => value != "llm",
                _ => true,
            });
            found.insert(format!("registered_resources.{kind}[{id}]"), values);
        }
    }
}

/// Writes every scalar below a value under its place. The walk is as deep as the config's reader lets a value become.
fn flatten(value: &Value, place: &mut String, values: &mut BTreeMap<String, String>) {
    let length = place.len();
    match value {
        Value::Null => {}
        Value::Object(fields) => {
            for (name, field) in fields {
                place.push('.');
                place.push_str(name);
                flatten(field, place, values);
                place.truncate(length);
            }
        }
        Value::Array(items) => {
            for (position, item) in items.iter().enumerate() {
                place.push_str(&format!("[{position}]"));
                flatten(item, place, values);
                place.truncate(length);
            }
        }
        scalar => {
            values.insert(place.clone(), spelled(scalar));
        }
    }
}

/// A scalar as text: llama-stack turns the text of a variable into the type that it looks like.
fn spelled(value: &Value) -> String {
    match value {
        Value::String(text) if text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false") => {
            text.to_ascii_lowercase()
        }
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Where two configs differ in meaning, in order of place. A thing that only one of them has is one difference.
pub(super) fn compare(before: &Meaning, after: &Meaning) -> Vec<Difference> {
    let nothing = BTreeMap::new();
    let mut differences = Vec::new();
    let names: IndexMap<&String, ()> = before.keys().chain(after.keys()).map(|name| (name, ())).collect();
    for name in names.keys().copied() {
        let (old, new) = (before.get(name), after.get(name));
        if name.ends_with(']') && (old.is_none() || new.is_none()) {
            let what = |values: Option<&BTreeMap<String, String>>| values.map(summary);
            differences.push(Difference { place: name.clone(), before: what(old), after: what(new) });
            continue;
        }
        let (old, new) = (old.unwrap_or(&nothing), new.unwrap_or(&nothing));
        let places: IndexMap<&String, ()> = old.keys().chain(new.keys()).map(|place| (place, ())).collect();
        for place in places.keys().copied().filter(|place| old.get(*place) != new.get(*place)) {
            let shown = |values: &BTreeMap<String, String>| values.get(place).map(|value| shown(place, value));
            differences.push(Difference { place: format!("{name}{place}"), before: shown(old), after: shown(new) });
        }
    }
    differences.sort_by(|one, other| one.place.cmp(&other.place));
    differences
}

fn summary(values: &BTreeMap<String, String>) -> String {
    values.get(".provider_type").or_else(|| values.get("")).cloned().unwrap_or_else(|| "an entry".to_owned())
}

/// A value for the eyes of a user: hidden where its key speaks of a secret or it may be a URL with a password, unless
/// it is a reference.
fn shown(place: &str, value: &str) -> String {
    let key = place.rsplit('.').next().unwrap_or(place).to_ascii_lowercase();
    let secret = ["password", "token", "secret", "api_key", "apikey"].iter().any(|word| key.contains(word));
    let secret = secret || (value.contains("://") && value.contains('@'));
    if secret && !value.starts_with("secret ") && !value.starts_with("${") && !value.starts_with("value of ") {
        "(hidden)".to_owned()
    } else {
        value.to_owned()
    }
}
