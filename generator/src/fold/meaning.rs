//! Whether two configs mean the same to llama-stack, and where they do not.

use super::config::{Effective, Piece, effective};
use super::difference::{Cause, Class, Difference, Part};
use super::environment::Env;
use super::provider::old_address;
use crate::catalog::{Catalog, ConfigKey, KeyKind, ProviderType};
use indexmap::IndexSet;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// What a place of a config holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Scalar {
    /// As JSON, so that a number and its digits are told apart.
    Known(String),
    /// What the server puts together when it starts.
    Open(Vec<Piece>),
}

impl fmt::Display for Scalar {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // quotes only where the text would be read as another type
            Self::Known(text) => match serde_json::from_str::<Value>(text) {
                Ok(Value::String(plain)) if serde_json::from_str::<Value>(&plain).is_err() => out.write_str(&plain),
                _ => out.write_str(text),
            },
            Self::Open(pieces) => pieces.iter().try_for_each(|piece| piece.fmt(out)),
        }
    }
}

/// One thing of a config, each of its values by place.
type Values = BTreeMap<String, Scalar>;

/// A config as what it means: things by name (a provider, a model, an API).
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Meaning {
    things: BTreeMap<String, Values>,
    /// Keys that the server passes over. They mean nothing.
    pub(super) unread: BTreeSet<String>,
    /// Places whose value the config has under a key of older versions.
    older: BTreeSet<String>,
}

impl Meaning {
    /// What is known of a thing; `None` if the config has none of that name.
    pub(super) fn of(&self, name: &str) -> Option<&Values> {
        self.things.get(name)
    }

    /// Takes the places at which `meant` has something else for places that the config has in an older form.
    pub(super) fn read_as(&mut self, meant: &Self) {
        let places: Vec<String> = compare(self, meant).into_iter().map(|difference| difference.place).collect();
        self.older.extend(places);
    }

    fn put(&mut self, name: String, values: Values) {
        // of two entries with one name both count, but for providers, where the last one wins
        let mut free = name.clone();
        let mut number = 2;
        while self.things.contains_key(&free) && !name.starts_with("providers.") {
            free = format!("{name} ({number})");
            number += 1;
        }
        self.things.insert(free, values);
    }
}

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

/// The sections of a config that llama-stack 0.4 to 0.7 reads beside providers and resources; it passes over others.
const SECTIONS: [&str; 7] =
    ["storage", "logging", "server", "external_providers_dir", "external_apis_dir", "vector_stores", "safety"];

/// What a config means under an environment. Order, defaults that are written out, nulls, what is switched off and what
/// the server passes over mean nothing; nor do the config's version and name.
pub(super) fn meaning(config: &Value, env: &Env, catalog: Option<&Catalog>) -> Meaning {
    let config = effective(config, env);
    let mut found = Meaning::default();
    let lists = config.get("providers").map(Effective::fields).unwrap_or_default();
    let served: IndexSet<String> = match config.get("apis") {
        Some(Effective::List(apis)) => apis.iter().map(shown_name).collect(),
        _ => lists.iter().map(|(api, _)| api.clone()).collect(),
    };
    for api in &served {
        let values = Values::from([(String::new(), Scalar::Known("\"served\"".to_owned()))]);
        found.put(format!("apis[{api}]"), values);
    }
    for (name, part) in config.fields() {
        match name.as_str() {
            "version" | "image_name" | "container_image" | "apis" => {}
            "providers" => providers(part, &served, catalog, &mut found),
            "registered_resources" => resources(part, &mut found),
            "storage" => {
                for (kind, things) in part.fields() {
                    for (name, thing) in things.fields() {
                        let mut values = Values::new();
                        flatten(thing, &mut String::new(), &mut values);
                        found.put(format!("storage.{kind}[{name}]"), values);
                    }
                }
            }
            name if SECTIONS.contains(&name) => {
                let mut values = Values::new();
                flatten(part, &mut String::new(), &mut values);
                // the start command takes the port from elsewhere
                if name == "server" {
                    values.remove(".port");
                }
                found.put(name.to_owned(), values);
            }
            name => _ = found.unread.insert(name.to_owned()),
        }
    }
    found.things.retain(|_, values| !values.is_empty());
    found
}

fn providers(lists: &Effective, served: &IndexSet<String>, catalog: Option<&Catalog>, found: &mut Meaning) {
    for (api, list) in lists.fields().iter().filter(|(api, _)| served.contains(api)) {
        for (position, provider) in list.items().iter().enumerate() {
            let name = match provider.get("provider_id") {
                // switched off
                Some(Effective::Null) => continue,
                Some(id) if matches!(id.text(), Some("" | "__disabled__")) => continue,
                Some(id) => format!("providers.{api}[{}]", shown_name(id)),
                None => format!("providers.{api}[number {position}]"),
            };
            let kind = provider.get("provider_type").and_then(Effective::text).unwrap_or_default();
            let known = catalog.and_then(|catalog| catalog.provider(api, kind));
            let mut values = Values::new();
            for (field, value) in provider.fields() {
                match field.as_str() {
                    "provider_id" => {}
                    "config" => settings(value, known, &name, &mut values, found),
                    _ => flatten(value, &mut format!(".{field}"), &mut values),
                }
            }
            found.put(name, values);
        }
    }
}

fn settings(config: &Effective, known: Option<&ProviderType>, name: &str, values: &mut Values, found: &mut Meaning) {
    if let Some(present) = known.and_then(|known| {
        let keys: BTreeSet<&str> = config.fields().iter().map(|(key, _)| key.as_str()).collect();
        old_address(known, &keys)
    }) {
        found.older.insert(format!("{name}.config.{present}"));
    }
    for (key, value) in config.fields() {
        let about = known.and_then(|known| known.config.get(key));
        if about.is_none() && known.is_some_and(|known| !known.open) {
            if *value != Effective::Null {
                found.unread.insert(format!("{name}.config.{key}"));
            }
            continue;
        }
        if about.is_some_and(|about| says_default(about, value)) {
            continue;
        }
        match about.and_then(|about| as_read(about, value)) {
            Some(scalar) => _ = values.insert(format!(".config.{key}"), scalar),
            None => flatten(value, &mut format!(".config.{key}"), values),
        }
    }
}

/// The value of a key that takes numbers or flags: llama-stack reads `"5"` there as 5.
fn as_read(about: &ConfigKey, value: &Effective) -> Option<Scalar> {
    let text = value.text()?;
    let typed = matches!(about.kind, KeyKind::Integer | KeyKind::Number | KeyKind::Boolean);
    let read = serde_json::from_str::<Value>(&text.to_ascii_lowercase()).ok()?;
    (typed && (read.is_number() || read.is_boolean())).then(|| Scalar::Known(read.to_string()))
}

/// Whether a key's value says what its absence says too.
fn says_default(key: &ConfigKey, value: &Effective) -> bool {
    value.known().is_some_and(|value| is_default(key, &value))
}

/// Whether a key's value says what its absence says too.
pub(super) fn is_default(key: &ConfigKey, value: &Value) -> bool {
    match &key.default {
        Some(default) => spelled(default) == spelled(value),
        None => value.is_null(),
    }
}

/// A scalar as YAML would spell it without quotes: text as it is, everything else as JSON.
fn spelled(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn resources(lists: &Effective, found: &mut Meaning) {
    for (kind, list) in lists.fields() {
        let identity = IDENTITIES.iter().find(|(list, _)| list == kind).map_or("id", |(_, key)| key);
        for (position, entry) in list.items().iter().enumerate() {
            let id = match entry.get(identity) {
                // switched off
                Some(Effective::Null) => continue,
                Some(id) if matches!(id.text(), Some("" | "__disabled__")) => continue,
                Some(id) => Some(id),
                None => None,
            };
            let mut values = Values::new();
            flatten(entry, &mut String::new(), &mut values);
            let name = scalar(id);
            values.retain(|place, value| match place.as_str() {
                ".provider_model_id" | ".provider_shield_id" | ".provider_resource_id" => {
                    Some(&*value) != name.as_ref()
                }
                ".model_type" => *value != Scalar::Known("\"llm\"".to_owned()),
                _ => true,
            });
            let shown = id.map_or_else(|| format!("number {position}"), shown_name);
            found.put(format!("registered_resources.{kind}[{shown}]"), values);
        }
    }
}

/// A name as it is shown and compared.
pub(super) fn shown_name(value: &Effective) -> String {
    scalar(Some(value)).map_or_else(|| "?".to_owned(), |scalar| scalar.to_string())
}

fn scalar(value: Option<&Effective>) -> Option<Scalar> {
    match value? {
        Effective::Known(value) => Some(Scalar::Known(value.to_string())),
        Effective::Open(pieces) => Some(Scalar::Open(pieces.clone())),
        _ => None,
    }
}

/// Writes every scalar below a value under its place. The walk is as deep as the config's reader lets a value become.
fn flatten(value: &Effective, place: &mut String, values: &mut Values) {
    let length = place.len();
    match value {
        Effective::Null => {}
        Effective::Map(fields) => {
            for (name, field) in fields {
                place.push('.');
                place.push_str(name);
                flatten(field, place, values);
                place.truncate(length);
            }
        }
        Effective::List(items) => {
            for (position, item) in items.iter().enumerate() {
                place.push_str(&format!("[{position}]"));
                flatten(item, place, values);
                place.truncate(length);
            }
        }
        Effective::Known(known) => _ = values.insert(place.clone(), Scalar::Known(known.to_string())),
        Effective::Open(pieces) => _ = values.insert(place.clone(), Scalar::Open(pieces.clone())),
    }
}

/// Where two configs differ in meaning, in order of place. A thing that only one of them has is one difference.
pub(super) fn compare(before: &Meaning, after: &Meaning) -> Vec<Difference> {
    let nothing = Values::new();
    let mut differences = Vec::new();
    let names: BTreeSet<&String> = before.things.keys().chain(after.things.keys()).collect();
    let mut add = |class: Class, place: String, values: (Option<String>, Option<String>)| {
        let cause = before.older.contains(&place).then_some(Cause::OlderForm);
        let (before, after) = values;
        differences.push(Difference { class, part: Part::Config, place, before, after, cause });
    };
    for name in names {
        let (old, new) = (before.things.get(name), after.things.get(name));
        match (old, new) {
            (None, Some(new)) if name.ends_with(']') => add(Class::Added, name.clone(), (None, summary(new))),
            (Some(old), None) if name.ends_with(']') => add(Class::Loss, name.clone(), (summary(old), None)),
            _ => {
                let is_new = old.is_none();
                let (old, new) = (old.unwrap_or(&nothing), new.unwrap_or(&nothing));
                let places: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
                for place in places.into_iter().filter(|place| old.get(*place) != new.get(*place)) {
                    let whole = format!("{name}{place}");
                    let shown = |values: &Values| values.get(place).map(|value| shown(place, value));
                    let values = (shown(old), shown(new));
                    let gone = values.1.is_none() || is_state(&whole);
                    let class = match gone {
                        _ if is_new => Class::Added,
                        true => Class::Loss,
                        false => Class::Change,
                    };
                    add(class, whole, values);
                }
            }
        }
    }
    differences
}

/// Whether the value at a place says where the server keeps or finds its state: with another one, what is there is not
/// found any more.
fn is_state(place: &str) -> bool {
    let key = place.rsplit('.').next().unwrap_or(place);
    place.starts_with("storage.")
        || ["db_path", "storage_dir", "persist_directory", "namespace", "table_name", "backend"].contains(&key)
}

fn summary(values: &Values) -> Option<String> {
    let telling = [".provider_type", ".type", ""].iter().find_map(|place| values.get(*place));
    Some(telling.map_or_else(|| "an entry".to_owned(), ToString::to_string))
}

/// A value for the eyes of a user: hidden where its key speaks of a secret or it may be a URL with a password, unless
/// it comes from elsewhere.
fn shown(place: &str, value: &Scalar) -> String {
    let key = place.rsplit('.').next().unwrap_or(place).to_ascii_lowercase();
    let text = value.to_string();
    let secret = ["password", "token", "secret", "api_key", "apikey"].iter().any(|word| key.contains(word));
    let secret = secret || (text.contains("://") && text.contains('@'));
    let written = match value {
        Scalar::Known(known) => known.starts_with('"'),
        Scalar::Open(pieces) => pieces.iter().any(|piece| matches!(piece, Piece::Text(_) | Piece::Or(..))),
    };
    if secret && written { "(hidden)".to_owned() } else { text }
}
