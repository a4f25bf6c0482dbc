//! The config that ogx-k8s-operator makes of an `OGXServer`. Source: upstream's generator, run on its own cases.
//!
//! It is told as it is, also where the server refuses the result: what the server says of it is another matter, see
//! [`super::rules`].

mod error;
mod resources;
mod secrets;
mod storage;

pub use error::Error;
pub use secrets::variable_name;

use super::providers::{CUSTOM, Entry, config_key, entries};
use super::references::is_reference;
use crate::generate::{Base, Config, Data, EnvVar, Generated, Map, Origin, Tracked, read_base};
use crate::path::{Path, Segment};
use secrets::Secrets;
use serde_json::Value;
use std::sync::Arc;

/// The port of a server that is told none.
const DEFAULT_PORT: i64 = 8321;

/// What the server runs with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The config of a ConfigMap of the user, of this name.
    Override(String),
    /// The operator generates the config into a ConfigMap of its own.
    Generated,
    /// The config that the image brings.
    Image,
}

impl Source {
    /// What a resource asks for.
    #[must_use]
    pub fn of(object: &Value) -> Self {
        let given = |field: &str| !object["spec"][field].is_null();
        if given("overrideConfig") {
            Self::Override(object["spec"]["overrideConfig"]["name"].as_str().unwrap_or_default().to_owned())
        } else if ["providers", "resources", "storage", "disabledAPIs"].into_iter().any(given) {
            Self::Generated
        } else {
            Self::Image
        }
    }
}

/// Generates the config of a resource, which has its defaults and has passed the checks of the CRD.
///
/// # Errors
/// What stands in the way, as upstream's generator says it. An error quotes no secret.
pub fn generate(object: &Value, base: &Base) -> Result<Generated, Error> {
    let base = read_base(base)?;
    let version = base.get("version").filter(|version| !version.is_null()).ok_or(Error::NoVersion)?;
    let version = Tracked::text(version.origin.clone(), plain(version));
    let config_version = version.as_text().and_then(|text| text.parse().ok()).unwrap_or(2);

    let mut secrets = Secrets::default();
    let providers = providers(object, &base, &mut secrets)?;
    let mut config = Map::new();
    config.insert("version".to_owned(), version);
    config.insert("distro_name".to_owned(), distribution(object));
    if let Some(apis) = apis(object, &base) {
        config.insert("apis".to_owned(), apis);
    }
    let (registered, models) = resources::registered(object, &base, &providers)?;
    let count = providers.values().filter_map(Tracked::as_list).map(<[Tracked]>::len).sum();
    config.insert("providers".to_owned(), map(Origin::Rule("providers by API"), providers));
    config.insert("registered_resources".to_owned(), registered);
    config.insert("server".to_owned(), server(object, &base));
    if let Some(storage) = storage::section(object, &mut secrets).or_else(|| base.get("storage").cloned()) {
        config.insert("storage".to_owned(), storage);
    }
    if let Some(stores) = base.get("vector_stores") {
        config.insert("vector_stores".to_owned(), stores.clone());
    }
    let env: Vec<EnvVar> = secrets.distinct()?;
    Ok(Generated {
        config: Config::new(map(Origin::Rule("a config is a mapping"), config)),
        env,
        derived_secrets: Vec::new(),
        providers: count,
        resources: models,
        config_version,
        warnings: Vec::new(),
    })
}

fn map(origin: Origin, entries: Map) -> Tracked {
    Tracked { origin, data: Data::Map(Arc::new(entries)) }
}

fn list(origin: Origin, items: Vec<Tracked>) -> Tracked {
    Tracked { origin, data: Data::List(Arc::new(items)) }
}

/// A scalar as it is written, without quotes.
fn plain(value: &Tracked) -> String {
    match &value.data {
        Data::Literal(text) | Data::Text(text) => text.clone(),
        Data::List(_) | Data::Map(_) => value.to_json().to_string(),
    }
}

/// The distribution's name, else its image.
fn distribution(object: &Value) -> Tracked {
    let at = Path::parse("spec.distribution");
    let given = |field: &str| {
        let text = object["spec"]["distribution"][field].as_str().filter(|text| !text.is_empty())?;
        Some(Tracked::text(Origin::Resource(at.key(field)), text))
    };
    given("name").or_else(|| given("image")).unwrap_or_else(|| Tracked::text(Origin::Resource(at), ""))
}

/// The APIs of the base without those that are disabled. Providers add none; an empty list is left out.
fn apis(object: &Value, base: &Tracked) -> Option<Tracked> {
    let all = base.get("apis")?;
    let disabled: Vec<&str> = texts(&object["spec"]["disabledAPIs"]);
    let kept = all.as_list().unwrap_or_default().iter();
    let kept: Vec<Tracked> =
        kept.filter(|api| api.as_text().is_none_or(|name| !disabled.contains(&name))).cloned().collect();
    (!kept.is_empty()).then(|| list(all.origin.clone(), kept))
}

fn texts(value: &Value) -> Vec<&str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// The base's providers, those of an API replaced as a whole where the resource has some.
fn providers(object: &Value, base: &Tracked, secrets: &mut Secrets) -> Result<Map, Error> {
    let mut all: Map = base.get("providers").and_then(Tracked::as_map).cloned().unwrap_or_default();
    let mut given = Map::new();
    for entry in entries(object) {
        let place = Path::parse("spec.providers").key(entry.api.field);
        let provider = provider(&entry, secrets)?;
        let origin = Origin::Resource(place);
        let of_api = given.entry(entry.api.name.to_owned()).or_insert_with(|| Tracked::list(origin.clone()));
        of_api.list_mut(&origin).push(provider);
    }
    all.extend(given);
    Ok(all)
}

fn provider(entry: &Entry<'_>, secrets: &mut Secrets) -> Result<Tracked, Error> {
    let (id, provider_type) = (entry.id(), entry.provider_type());
    let here = || Origin::Resource(entry.path.clone());
    let at = |field: &str| Origin::Resource(entry.path.key(field));
    let id_origin = if entry.value["id"].is_null() { Origin::Rule("the id follows from the type") } else { at("id") };
    let type_origin = if entry.field == CUSTOM { at("type") } else { here() };
    let config = match entry.field {
        CUSTOM => custom(entry, &id, secrets)?,
        _ => {
            let reader = Reader { provider_type: &provider_type, id: &id };
            let schema = crate::api::crd::schema_at(crate::api::ApiVersion::OgxV1Beta1, &entry.path);
            let fields = entry.value.as_object().into_iter().flatten().filter(|(name, _)| *name != "id");
            reader.fields(fields, schema.unwrap_or(&Value::Null), &entry.path, &mut Vec::new(), secrets)
        }
    };
    let mut provider = Map::new();
    provider.insert("provider_id".to_owned(), Tracked::text(id_origin, id));
    provider.insert("provider_type".to_owned(), Tracked::text(type_origin, provider_type));
    provider.insert("config".to_owned(), map(here(), config));
    Ok(map(here(), provider))
}

/// The secrets of a custom provider, then its settings, both under the keys that the user wrote.
fn custom(entry: &Entry<'_>, id: &str, secrets: &mut Secrets) -> Result<Map, Error> {
    let mut config = Map::new();
    let at = entry.path.key("secretRefs");
    for (key, secret) in entry.value["secretRefs"].as_object().into_iter().flatten() {
        let path = at.key(key);
        let variable = secrets.add(variable_name(id, key), secret, &path);
        config.insert(key.clone(), Tracked::text(Origin::Resource(path), variable));
    }
    let at = entry.path.key("settings");
    let settings = match &entry.value["settings"] {
        Value::Null => return Ok(config),
        Value::Object(settings) => settings,
        _ => return Err(Error::Settings { path: at, id: id.to_owned() }),
    };
    for (key, value) in settings {
        let path = at.key(key);
        if config.contains_key(key) {
            return Err(Error::SettingTwice { path, id: id.to_owned(), key: key.clone() });
        }
        config.insert(key.clone(), Tracked::from_json(value, &path, &|path| Origin::Resource(path.clone())));
    }
    Ok(config)
}

/// Reads the fields of a typed provider.
struct Reader<'e> {
    provider_type: &'e str,
    id: &'e str,
}

impl Reader<'_> {
    /// `way`: the way there from the provider. As deep as the schema, which is embedded.
    fn fields<'v>(
        &self,
        fields: impl Iterator<Item = (&'v String, &'v Value)>,
        schema: &Value,
        at: &Path,
        way: &mut Vec<&'v str>,
        secrets: &mut Secrets,
    ) -> Map {
        let mut config = Map::new();
        for (name, value) in fields {
            let path = at.key(name);
            let inside = schema.get("properties").and_then(|known| known.get(name));
            let inside = inside.or_else(|| schema.get("additionalProperties")).unwrap_or(&Value::Null);
            way.push(name);
            let key = config_key(self.provider_type, way);
            let read = match value {
                Value::Object(_) if is_reference(inside) => {
                    let variable = secrets.add(variable_name(self.id, &key), value, &path);
                    Some(Tracked::text(Origin::Resource(path), variable))
                }
                Value::Object(fields) => {
                    let inner = self.fields(fields.iter(), inside, &path, way, secrets);
                    (!inner.is_empty()).then(|| map(Origin::Resource(path), inner))
                }
                value => Some(Tracked::from_json(value, &path, &|path| Origin::Resource(path.clone()))),
            };
            config.extend(read.map(|read| (key, read)));
            way.pop();
        }
        config
    }
}

/// The base's server section with the port: the resource's, else the base's, else the usual one.
fn server(object: &Value, base: &Tracked) -> Tracked {
    let own = base.get("server").filter(|server| server.as_map().is_some()).cloned();
    let origin = Origin::Default("the port");
    let mut server = own.unwrap_or_else(|| Tracked::map(origin.clone()));
    let given = object["spec"]["network"]["port"].as_i64();
    let given = given.map(|port| Tracked::number(Origin::Resource(Path::parse("spec.network.port")), port));
    let known = server.get("port").filter(|port| !port.is_null()).cloned();
    let port = given.or(known).unwrap_or_else(|| Tracked::number(origin.clone(), DEFAULT_PORT));
    server.map_mut(&origin).insert("port".to_owned(), port);
    server
}

/// The place of the config that comes from the given place of the resource, or holds what does; and the other way
/// round: where in the resource the value at `path` of a config comes from. `None`: it is not the resource's.
#[must_use]
pub fn origin_of(config: &Tracked, path: &Path) -> Option<Path> {
    let mut at = config;
    let mut found = None;
    for step in path.segments() {
        let next = match step {
            Segment::Key(name) => at.get(name),
            Segment::Index(number) => at.as_list().and_then(|items| items.get(*number)),
        };
        let Some(next) = next else { break };
        at = next;
        found = match &at.origin {
            Origin::Resource(place) => Some(place.clone()),
            Origin::Base { .. } => None,
            // What follows from something belongs to what holds it.
            Origin::Default(_) | Origin::Rule(_) => found,
        };
    }
    found
}

/// The config of a typed provider as plain values: its settings, and its secrets by the settings' names, as a custom
/// provider takes them.
pub(super) fn typed_config(entry: &Entry<'_>) -> (serde_json::Map<String, Value>, serde_json::Map<String, Value>) {
    let mut secrets = Secrets::default();
    let Ok(Tracked { data: Data::Map(provider), .. }) = provider(entry, &mut secrets) else {
        return Default::default();
    };
    let mut settings = match provider.get("config").map(Tracked::to_json) {
        Some(Value::Object(settings)) => settings,
        _ => serde_json::Map::new(),
    };
    let mut named = serde_json::Map::new();
    for (key, value) in provider.get("config").and_then(Tracked::as_map).into_iter().flatten() {
        if let Origin::Resource(path) = &value.origin
            && secrets.names(path)
            && let Some(Segment::Key(field)) = path.last()
        {
            settings.shift_remove(key);
            named.insert(key.clone(), entry.value[field.as_str()].clone());
        }
    }
    (settings, named)
}
