//! One provider of a config, said as a provider of the resource.

use super::config::{Env, Source, resolved, sole_variable, variables};
use super::meaning::is_default;
use crate::catalog::{Catalog, ConfigKey, Endpoint, KeyKind, ProviderType};
use crate::generate::resolve_type;
use crate::path::{Path, Segment};
use serde_json::{Map, Value, json};

/// A provider of the resource, and where its parts come from.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Folded {
    /// What goes into the list: `id` is always there.
    pub(super) value: Map<String, Value>,
    /// Variables that the provider no longer reads, each with the place that took its value.
    pub(super) taken: Vec<(String, Path)>,
}

impl Folded {
    /// Whether the type alone gives the id.
    pub(super) fn has_implicit_id(&self) -> bool {
        let text = |field: &str| self.value.get(field).and_then(Value::as_str).unwrap_or_default();
        text("provider").rsplit("::").next() == Some(text("id"))
    }
}

/// What the resource has to say to get this entry of `providers.<api>`. `None` for an entry that is switched off or
/// has not the shape of one.
pub(super) fn fold(api: &str, entry: &Value, env: &Env, catalog: Option<&Catalog>) -> Option<Folded> {
    let written_id = entry.get("provider_id")?;
    let id = resolved(written_id, env).as_str()?.to_owned();
    let kind = entry.get("provider_type")?.as_str()?;
    let short = kind.rsplit("::").next().unwrap_or(kind);
    let provider = match resolve_type(catalog, api, short) {
        Ok(full) if full == kind => short,
        _ => kind,
    };
    let known = catalog.and_then(|catalog| catalog.provider(api, kind));
    let mut folded = Folded {
        value: Map::from_iter([("id".to_owned(), json!(id)), ("provider".to_owned(), json!(provider))]),
        taken: variables(written_id).into_iter().map(|name| (name, Path::root())).collect(),
    };
    let mut settings = Map::new();
    let config = entry.get("config").and_then(Value::as_object);
    let old_address = old_address(known, config);
    for (key, value) in config.into_iter().flatten() {
        let key = if old_address == Some(key) { known.and_then(address_key).unwrap_or(key) } else { key };
        setting(&mut folded, &mut settings, known, (key, value), env);
    }
    settings.retain(|key, value| !is_made_up(known, key, value, api, &id));
    if !settings.is_empty() {
        folded.value.insert("settings".to_owned(), Value::Object(settings));
    }
    Some(folded)
}

/// The key that a type reads its whole address from.
fn address_key(known: &ProviderType) -> Option<&String> {
    match known.endpoint.as_ref()? {
        Endpoint::Key(key) => Some(key),
        Endpoint::HostPort { .. } => None,
    }
}

/// The key `url` where older versions read the address from it and this one reads another: a config that has only the
/// old key means the address.
fn old_address<'c>(known: Option<&ProviderType>, config: Option<&'c Map<String, Value>>) -> Option<&'c String> {
    let (known, config) = (known?, config?);
    let present = address_key(known)?;
    let (old, _) = config.get_key_value("url")?;
    (!config.contains_key(present) && !known.config.contains_key(old)).then_some(old)
}

/// Puts one config key where the resource says it: the address, the key, another Secret, or a setting.
fn setting(
    folded: &mut Folded,
    settings: &mut Map<String, Value>,
    known: Option<&ProviderType>,
    (key, value): (&String, &Value),
    env: &Env,
) {
    let about = known.and_then(|known| known.config.get(key));
    let variable = value.as_str().and_then(sole_variable);
    match variable.and_then(|name| env.get(name)) {
        Some(Source::Secret { name, key: secret_key }) => {
            let reference = json!({"secretKeyRef": {"name": name, "key": secret_key}});
            let is_api_key = known.is_some_and(|known| known.api_key.as_ref() == Some(key));
            let place = if is_api_key {
                folded.value.insert("apiKey".to_owned(), reference);
                Path::root().key("apiKey")
            } else {
                let refs = folded.value.entry("secretRefs").or_insert_with(|| json!({}));
                refs[key.as_str()] = reference;
                Path::root().key("secretRefs").key(key.as_str())
            };
            folded.taken.extend(variable.map(|name| (name.to_owned(), place)));
        }
        // A secret in plain text, or from somewhere that a provider cannot name: the variable stays, and is referred to.
        Some(Source::Elsewhere(_)) => keep(settings, key, value),
        Some(Source::Text(_)) if about.is_some_and(|about| about.secret) => keep(settings, key, value),
        Some(Source::Text(text)) => {
            let is_address = known.and_then(address_key) == Some(key);
            let place = if is_address && !text.is_empty() {
                folded.value.insert("endpoint".to_owned(), json!(text));
                Path::root().key("endpoint")
            } else {
                let value = typed(about, &resolved(value, env));
                if !about.is_some_and(|about| is_default(about, &value)) {
                    keep(settings, key, &value);
                }
                Path::root().key("settings").key(key.as_str())
            };
            folded.taken.extend(variable.map(|name| (name.to_owned(), place)));
        }
        None => {
            let default = resolved(value, &Env::new());
            let plain = variables(value).is_empty();
            // Without a variable of the resource the default holds, unless the image sets one: a secret's placeholder
            // and a text with a variable inside are kept as they are written.
            let value = match about {
                Some(about) if variable.is_some() && !about.secret => typed(Some(about), &default),
                _ if variable.is_some() && default.is_null() => Value::Null,
                _ => value.clone(),
            };
            let is_address = known.and_then(address_key) == Some(key);
            match &value {
                Value::Null => {}
                Value::String(text) if is_address && (plain || variable.is_some()) => {
                    folded.value.insert("endpoint".to_owned(), json!(text));
                }
                value if about.is_some_and(|about| is_default(about, value)) => {}
                value => keep(settings, key, value),
            }
        }
    }
}

fn keep(settings: &mut Map<String, Value>, key: &str, value: &Value) {
    settings.insert(key.to_owned(), value.clone());
}

/// The text of a variable in the type that the key has.
fn typed(about: Option<&ConfigKey>, value: &Value) -> Value {
    let (Some(about), Value::String(text)) = (about, value) else { return value.clone() };
    let parsed = match about.kind {
        KeyKind::Integer => text.parse::<i64>().ok().map(Value::from),
        KeyKind::Number => {
            text.parse::<f64>().ok().and_then(|number| serde_json::Number::from_f64(number).map(Value::from))
        }
        KeyKind::Boolean | KeyKind::BooleanOrPath | KeyKind::Any => match text.to_ascii_lowercase().as_str() {
            "true" => Some(Value::Bool(true)),
            "false" => Some(Value::Bool(false)),
            _ => None,
        },
        _ => None,
    };
    parsed.unwrap_or_else(|| value.clone())
}

/// Whether generation writes this setting by itself: the place of a provider in the state backend.
fn is_made_up(known: Option<&ProviderType>, key: &str, value: &Value, api: &str, id: &str) -> bool {
    let required = known.and_then(|known| known.config.get(key)).is_some_and(|about| about.required);
    required && *value == json!({"namespace": format!("{api}::{id}"), "backend": "kv_default"})
}

/// The place of a provider's part in the resource.
pub(super) fn place(field: &str, position: usize, part: &Path) -> Path {
    let at = Path::parse("spec.providers").key(field).index(position);
    part.segments().iter().fold(at, |at, step| match step {
        Segment::Key(name) => at.key(name.as_str()),
        Segment::Index(position) => at.index(*position),
    })
}
