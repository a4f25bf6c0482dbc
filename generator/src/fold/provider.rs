//! One provider of a config, said as a provider of the resource.

use super::config::{self, known, sole_variable};
use super::environment::{Env, Source, Variables};
use super::meaning::is_default;
use crate::api::v1alpha2::implied_id;
use crate::catalog::{Catalog, Endpoint, ProviderType};
use crate::generate::resolve_type;
use crate::path::{Path, Segment};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

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
        implied_id(text("provider")) == text("id")
    }
}

/// What the resource has to say to get this entry of `providers.<api>`. `None` for an entry that is switched off, has not
/// the shape of one, or has an id that is not known before the server starts.
pub(super) fn fold(api: &str, entry: &Value, variables: &Variables, catalog: Option<&Catalog>) -> Option<Folded> {
    let written_id = entry.get("provider_id")?;
    let id = known(written_id, &variables.all)?.as_str()?.to_owned();
    let kind = entry.get("provider_type")?.as_str()?;
    let short = implied_id(kind);
    let provider = match resolve_type(catalog, api, short) {
        Ok(full) if full == kind => short,
        _ => kind,
    };
    let type_of = catalog.and_then(|catalog| catalog.provider(api, kind));
    let mut folded = Folded {
        value: Map::from_iter([("id".to_owned(), json!(id)), ("provider".to_owned(), json!(provider))]),
        taken: config::variables(written_id).into_iter().map(|name| (name, Path::root())).collect(),
    };
    let mut settings = Map::new();
    let config = entry.get("config").and_then(Value::as_object);
    let keys: BTreeSet<&str> = config.into_iter().flat_map(Map::keys).map(String::as_str).collect();
    let moved = type_of.and_then(|known| old_address(known, &keys));
    for (key, value) in config.into_iter().flatten() {
        let key = if key == OLD_ADDRESS { moved.unwrap_or(key) } else { key };
        setting(&mut folded, &mut settings, type_of, (key, value), &variables.free);
    }
    settings.retain(|key, value| !is_made_up(type_of, key, value, api, &id));
    if !settings.is_empty() {
        folded.value.insert("settings".to_owned(), Value::Object(settings));
    }
    Some(folded)
}

/// The key that a type reads its whole address from.
fn address_key(known: &ProviderType) -> Option<&str> {
    match known.endpoint.as_ref()? {
        Endpoint::Key(key) => Some(key),
        Endpoint::HostPort { .. } => None,
    }
}

/// The key that older versions read the address from.
const OLD_ADDRESS: &str = "url";

/// The key that a type reads its address from, where the keys of a config are those of older versions: such a config
/// means the address.
pub(super) fn old_address<'c>(known: &'c ProviderType, keys: &BTreeSet<&str>) -> Option<&'c str> {
    let present = address_key(known)?;
    let older = keys.contains(OLD_ADDRESS) && !keys.contains(present) && !known.config.contains_key(OLD_ADDRESS);
    older.then_some(present)
}

/// Puts one config key where the resource says it: the address, the key, another Secret, or a setting.
fn setting(
    folded: &mut Folded,
    settings: &mut Map<String, Value>,
    type_of: Option<&ProviderType>,
    (key, value): (&str, &Value),
    env: &Env,
) {
    let about = type_of.and_then(|known| known.config.get(key));
    let is_address = type_of.and_then(address_key) == Some(key);
    let variable = value.as_str().and_then(sole_variable);
    let keep = |settings: &mut Map<String, Value>, value: Value| _ = settings.insert(key.to_owned(), value);
    match variable.and_then(|name| env.get(name)) {
        Some(Source::Secret { name, key: secret_key }) => {
            let reference = json!({"secretKeyRef": {"name": name, "key": secret_key}});
            let is_api_key = type_of.is_some_and(|known| known.api_key.as_deref() == Some(key));
            let place = if is_api_key {
                folded.value.insert("apiKey".to_owned(), reference);
                Path::root().key("apiKey")
            } else {
                let refs = folded.value.entry("secretRefs").or_insert_with(|| json!({}));
                refs[key] = reference;
                Path::root().key("secretRefs").key(key)
            };
            folded.taken.extend(variable.map(|name| (name.to_owned(), place)));
        }
        // From somewhere that a provider cannot name, or a secret in plain text: the variable stays, and is referred to.
        Some(Source::Elsewhere(_)) => keep(settings, value.clone()),
        Some(Source::Text(_)) if about.is_some_and(|about| about.secret) => keep(settings, value.clone()),
        Some(Source::Text(text)) => {
            let place = if is_address && !text.is_empty() {
                folded.value.insert("endpoint".to_owned(), json!(text));
                Path::root().key("endpoint")
            } else {
                match known(value, env) {
                    Some(Value::Null) => {}
                    // also what is the default today: an image of another version may have another one
                    Some(value) => keep(settings, value),
                    None => return keep(settings, value.clone()),
                }
                Path::root().key("settings").key(key)
            };
            folded.taken.extend(variable.map(|name| (name.to_owned(), place)));
        }
        None => {
            // Without a variable of the resource the default holds, unless the image sets one: a secret's placeholder
            // and a text with a variable inside are kept as they are written.
            let default = variable.and_then(|_| known(value, env));
            let value = match (about, default) {
                (_, Some(Value::Null)) => Value::Null,
                (Some(about), Some(default)) if !about.secret => default,
                _ => value.clone(),
            };
            let whole = variable.is_some() || config::variables(&value).is_empty();
            match &value {
                Value::Null => {}
                Value::String(text) if is_address && whole => {
                    _ = folded.value.insert("endpoint".to_owned(), json!(text))
                }
                value if about.is_some_and(|about| is_default(about, value)) => {}
                value => keep(settings, value.clone()),
            }
        }
    }
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
