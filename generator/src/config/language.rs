//! What may be written in a config: the keys of each place in one version, their values, and what they mean.
//!
//! The sections come from the schema of the version, the settings of providers from its catalog. What a place means
//! besides its type (an API, the id of a provider, a storage backend) is told by [`Meaning`].

use super::providers::active_id;
use super::schema::ConfigSchema;
use super::words;
use crate::catalog::{Catalog, ConfigKey, KeyKind, ProviderType};
use crate::path::{Path, Segment};
use indexmap::IndexMap;
use serde_json::Value;
use std::collections::BTreeSet;

/// Lists of registered resources: the list, the key of an entry's own id, and the API whose providers serve it.
pub const REGISTERED: [(&str, &str, &str); 8] = [
    ("models", "model_id", "inference"),
    ("shields", "shield_id", "safety"),
    ("tool_groups", "toolgroup_id", "tool_runtime"),
    ("vector_stores", "vector_store_id", "vector_io"),
    ("vector_dbs", "vector_db_id", "vector_io"),
    ("datasets", "dataset_id", "datasetio"),
    ("scoring_fns", "scoring_fn_id", "scoring"),
    ("benchmarks", "benchmark_id", "eval"),
];

/// What one version reads in a config.
#[derive(Clone, Copy, Debug)]
pub struct Language {
    schema: &'static ConfigSchema,
    catalog: &'static Catalog,
}

/// What a place of a config stands for, beyond the type of its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// The name of an API: an item of `apis`, or a key of `providers`.
    Api,
    /// The type of a provider of this API.
    ProviderType(String),
    /// The id that a provider of this API declares.
    ProviderId(String),
    /// The id of a provider of this API that is declared elsewhere in the config.
    ProviderOf(String),
    /// The id of a model that the config registers.
    Model,
    /// The id of a shield that the config registers.
    Shield,
    /// The id that an entry of this list of registered resources declares.
    Registered(&'static str),
    /// A storage backend: of this family (`kv`, `sql`), or of any.
    Backend(Option<&'static str>),
    /// A setting of the provider at this place, with the keys that lead to it from `config` on.
    Setting {
        /// The API of the provider.
        api: String,
        /// Where the provider's entry is.
        provider: Path,
        /// The keys from `config` on, the setting's own last; at least one.
        inside: Vec<String>,
    },
}

/// What the value of a key is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A text, number, boolean or null.
    Scalar,
    /// A mapping, written as lines below the key.
    Mapping,
    /// A list, written as items below the key.
    List,
}

/// One key of a mapping.
#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    /// The key as it is written, without quotes.
    pub name: String,
    /// The type of its value, as a word: `string`, `mapping`.
    pub kind: &'static str,
    /// What its value is made of.
    pub shape: Shape,
    /// Whether the server does not start without it.
    pub required: bool,
    /// Whether it is on its way out.
    pub deprecated: bool,
    /// Whether it holds a secret.
    pub secret: bool,
    /// The value where the key is absent; `None`: null, or not worth showing.
    pub default: Option<Value>,
    /// The values that are accepted; empty: any of the type.
    pub values: Vec<Value>,
    /// What it means, in a sentence or two; empty where nothing is known beyond the name.
    pub description: String,
}

/// What a place stands for; `None` where it has no meaning beyond its type.
#[must_use]
pub fn meaning(path: &Path) -> Option<Meaning> {
    let key = |segment: &Segment| match segment {
        Segment::Key(name) => Some(name.clone()),
        Segment::Index(_) => None,
    };
    let names: Vec<Option<String>> = path.segments().iter().map(key).collect();
    let names: Vec<Option<&str>> = names.iter().map(Option::as_deref).collect();
    match names.as_slice() {
        [Some("apis"), None] | [Some("providers"), Some(_)] => Some(Meaning::Api),
        [Some("providers"), Some(api), None, Some("provider_type")] => Some(Meaning::ProviderType((*api).to_owned())),
        [Some("providers"), Some(api), None, Some("provider_id")] => Some(Meaning::ProviderId((*api).to_owned())),
        [Some("providers"), Some(_), None, Some("config"), .., Some("backend")] => Some(Meaning::Backend(None)),
        [Some("providers"), Some(api), None, Some("config"), inside @ ..] if !inside.is_empty() => {
            let inside = inside.iter().copied().map(|name| name.map(str::to_owned)).collect::<Option<Vec<_>>>()?;
            let provider = path.segments().iter().take(3).cloned().collect();
            Some(Meaning::Setting { api: (*api).to_owned(), provider, inside })
        }
        [Some("registered_resources"), Some(list), None, Some(field)] | [Some(list), None, Some(field)] => {
            let (list, id, api) = REGISTERED.into_iter().find(|(name, ..)| name == list)?;
            match *field {
                "provider_id" => Some(Meaning::ProviderOf(api.to_owned())),
                "embedding_model" => Some(Meaning::Model),
                field if field == id => Some(Meaning::Registered(list)),
                _ => None,
            }
        }
        [Some("vector_stores"), Some("default_provider_id")] => Some(Meaning::ProviderOf("vector_io".to_owned())),
        [Some("vector_stores"), Some(model), Some("provider_id")] if model.starts_with("default_") => {
            Some(Meaning::ProviderOf("inference".to_owned()))
        }
        [Some("vector_stores"), Some(model), Some("model_id")] if model.starts_with("default_") => Some(Meaning::Model),
        [Some("safety"), Some("default_shield_id")] => Some(Meaning::Shield),
        [Some("storage"), Some("stores"), Some("metadata"), Some("backend")] => Some(Meaning::Backend(Some("kv"))),
        [Some("storage"), Some("stores"), Some("prompts"), Some("backend")] => Some(Meaning::Backend(None)),
        [Some("storage"), Some("stores"), Some(_), Some("backend")] => Some(Meaning::Backend(Some("sql"))),
        _ => None,
    }
}

/// The ids of the providers of an API, as far as the config tells them, with their types.
#[must_use]
pub fn provider_ids<'c>(config: &'c Value, api: &str) -> Vec<(&'c str, &'c str)> {
    let list = Path::root().key("providers").key(api).find(config).and_then(Value::as_array);
    let entries = list.into_iter().flatten().filter_map(|entry| {
        let id = active_id(entry.get("provider_id")?.as_str()?)?;
        Some((id, entry.get("provider_type").and_then(Value::as_str).unwrap_or_default()))
    });
    entries.collect()
}

/// The ids of a list of registered resources.
#[must_use]
pub fn registered_ids<'c>(config: &'c Value, list: &str) -> Vec<&'c str> {
    let Some((_, id, _)) = REGISTERED.into_iter().find(|(name, ..)| *name == list) else { return Vec::new() };
    let holders = [config.get("registered_resources"), Some(config)];
    let entries = holders.into_iter().flatten().filter_map(|holder| holder.get(list)?.as_array()).flatten();
    entries.filter_map(|entry| active_id(entry.get(id)?.as_str()?)).collect()
}

/// The storage backends of a config, each with its type; those of a family only, where one is given.
#[must_use]
pub fn backends<'c>(config: &'c Value, family: Option<&str>) -> Vec<(&'c str, &'c str)> {
    let all = Path::parse("storage.backends").find(config).and_then(Value::as_object);
    let typed = all
        .into_iter()
        .flatten()
        .map(|(name, backend)| (name.as_str(), backend.get("type").and_then(Value::as_str).unwrap_or_default()));
    typed.filter(|(_, kind)| kind.is_empty() || family.is_none_or(|family| kind.starts_with(family))).collect()
}

/// The family of backend that the mapping around a `backend` needs: `kv` beside `namespace`, `sql` beside `table_name`.
#[must_use]
pub fn family(reference: &Value) -> Option<&'static str> {
    match () {
        () if reference.get("table_name").is_some() => Some("sql"),
        () if reference.get("namespace").is_some() => Some("kv"),
        () => None,
    }
}

impl Language {
    /// What exactly this version reads; `None` where it has no catalog.
    #[must_use]
    pub fn of(version: &str) -> Option<Self> {
        Some(Self { schema: ConfigSchema::of(version)?, catalog: Catalog::for_version(version)? })
    }

    /// The provider types and APIs of the version.
    #[must_use]
    pub fn catalog(self) -> &'static Catalog {
        self.catalog
    }

    /// The type of the provider at `provider`.
    #[must_use]
    pub fn provider_type(self, config: &Value, api: &str, provider: &Path) -> Option<&'static ProviderType> {
        let written = provider.key("provider_type");
        self.catalog.provider(api, written.find(config)?.as_str()?)
    }

    /// The keys that the mapping at `path` may have, in the order in which people write them.
    #[must_use]
    pub fn keys(self, config: &Value, path: &Path) -> Vec<Key> {
        let below = path.key("");
        let mut found = match meaning(&below) {
            Some(Meaning::Api) => self.catalog.apis().map(api_key).collect(),
            Some(Meaning::Setting { api, provider, inside }) => {
                let above = &inside[..inside.len() - 1];
                let known = self.provider_type(config, &api, &provider);
                let table = known.and_then(|known| table(&known.config, above));
                table.into_iter().flatten().map(|(name, key)| of_setting(name, key)).collect()
            }
            _ => self.of_schema(config, path),
        };
        found.sort_by_key(|key| (key.deprecated, !key.required, words::order(&key.name)));
        found
    }

    /// The key that `path` ends with.
    #[must_use]
    pub fn key(self, config: &Value, path: &Path) -> Option<Key> {
        let Some(Segment::Key(name)) = path.last() else { return None };
        self.keys(config, &path.parent()?).into_iter().find(|key| key.name == *name)
    }

    /// The values that are accepted at `path`, where they are few.
    #[must_use]
    pub fn values(self, config: &Value, path: &Path) -> Vec<Value> {
        if let Some(key) = self.key(config, path) {
            return if key.kind == "boolean" { vec![true.into(), false.into()] } else { key.values };
        }
        let of_item = self.places(config, path).into_iter().find_map(|schema| self.schema.choices(schema));
        of_item.unwrap_or_default()
    }

    /// The schemas that may hold at `path`: those of the members of a union that its value does not rule out.
    fn places(self, config: &Value, path: &Path) -> Vec<&'static Value> {
        let mut here = vec![self.schema.root()];
        let mut value = Some(config);
        for segment in path.segments() {
            here = here.into_iter().flat_map(|schema| self.members(schema, value)).collect();
            let below = |schema: &'static Value| match segment {
                Segment::Key(name) => {
                    let named = schema.get("properties").and_then(|properties| properties.get(name));
                    named.or_else(|| schema.get("additionalProperties").filter(|others| others.is_object()))
                }
                Segment::Index(_) => schema.get("items"),
            };
            here = here.into_iter().filter_map(below).collect();
            value = value.and_then(|value| match segment {
                Segment::Key(name) => value.get(name),
                Segment::Index(position) => value.get(position),
            });
        }
        here.into_iter().flat_map(|schema| self.members(schema, value)).collect()
    }

    /// The plain schemas that a schema stands for, null left out.
    fn members(self, schema: &'static Value, value: Option<&Value>) -> Vec<&'static Value> {
        let (mut open, mut plain) = (vec![schema], Vec::new());
        while let Some(next) = open.pop() {
            let schema = self.schema.resolve(next);
            let union = schema.get("anyOf").or_else(|| schema.get("oneOf")).and_then(Value::as_array);
            let Some(members) = union else {
                if schema["type"] != "null" {
                    plain.push(schema);
                }
                continue;
            };
            let tag = schema["discriminator"]["propertyName"].as_str();
            let told = tag.and_then(|tag| value?.get(tag)?.as_str());
            let chosen = told.and_then(|told| schema["discriminator"]["mapping"].get(told));
            match chosen.and_then(Value::as_str).and_then(|reference| self.schema.named(reference)) {
                Some(member) => plain.push(member),
                None => open.extend(members.iter().rev()),
            }
        }
        plain
    }

    fn of_schema(self, config: &Value, path: &Path) -> Vec<Key> {
        let mut found: IndexMap<&str, Key> = IndexMap::new();
        let places = self.places(config, path);
        let several = places.len() > 1;
        for schema in places {
            let required: BTreeSet<&str> = schema
                .get("required")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .collect();
            let properties = schema.get("properties").and_then(Value::as_object);
            for (name, property) in properties.into_iter().flatten() {
                let key = self.property(path, name, property, required.contains(name.as_str()));
                match found.get_mut(name.as_str()) {
                    // the tags of a union are its choices
                    Some(known) => {
                        known.values.extend(key.values.into_iter().filter(|_| several));
                        known.default = known.default.take().filter(|default| Some(default) == key.default.as_ref());
                    }
                    None => _ = found.insert(name, key),
                }
            }
        }
        found.into_values().collect()
    }

    fn property(self, path: &Path, name: &str, schema: &'static Value, required: bool) -> Key {
        let default = schema.get("default").filter(|default| !default.is_null()).cloned();
        let deprecated = schema.get("deprecated").is_some_and(|flag| flag == true);
        let members = self.members(schema, None);
        let word = |schema: &Value| match schema.get("type").and_then(Value::as_str) {
            Some("object") => ("mapping", Shape::Mapping),
            Some("array") => ("list", Shape::List),
            Some("string") => ("string", Shape::Scalar),
            Some("integer") => ("integer", Shape::Scalar),
            Some("number") => ("number", Shape::Scalar),
            Some("boolean") => ("boolean", Shape::Scalar),
            _ => ("value", Shape::Scalar),
        };
        let (kind, shape) = match members.as_slice() {
            [first, rest @ ..] if rest.iter().all(|other| word(other) == word(first)) => word(first),
            _ => ("value", Shape::Scalar),
        };
        let values = members.iter().filter_map(|schema| self.schema.choices(schema)).flatten().collect();
        Key {
            name: name.to_owned(),
            kind,
            shape,
            required,
            deprecated,
            secret: matches!(name, "password" | "client_secret" | "token"),
            default,
            values,
            description: words::about(path, name).to_owned(),
        }
    }
}

fn api_key(api: &str) -> Key {
    Key {
        name: api.to_owned(),
        kind: "list",
        shape: Shape::List,
        required: false,
        deprecated: false,
        secret: false,
        default: None,
        values: Vec::new(),
        description: words::api(api).to_owned(),
    }
}

fn table<'k>(keys: &'k IndexMap<String, ConfigKey>, inside: &[String]) -> Option<&'k IndexMap<String, ConfigKey>> {
    inside.iter().try_fold(keys, |keys, name| match &keys.get(name)?.kind {
        KeyKind::Object(below) => Some(below),
        _ => None,
    })
}

fn of_setting(name: &str, key: &ConfigKey) -> Key {
    Key {
        name: name.to_owned(),
        kind: key.kind.name(),
        shape: match key.kind {
            KeyKind::Object(_) => Shape::Mapping,
            KeyKind::Array => Shape::List,
            _ => Shape::Scalar,
        },
        required: key.required,
        deprecated: key.deprecated,
        secret: key.secret,
        default: key.default.clone().filter(|default| !default.is_null()),
        values: key.values.clone(),
        description: key.description.clone(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use serde_json::json;

    fn names(version: &str, config: &Value, path: &str) -> Vec<String> {
        let keys = Language::of(version).unwrap().keys(config, &Path::parse(path));
        keys.into_iter().map(|key| key.name).collect()
    }

    #[test]
    fn sections_are_those_of_the_version() {
        let top = |version| names(version, &json!({}), "");
        assert!(top("0.4.7").contains(&"image_name".to_owned()));
        assert!(!top("0.4.7").contains(&"connectors".to_owned()));
        assert!(top("1.5.0").contains(&"connectors".to_owned()));
    }

    #[test]
    fn settings_are_those_of_the_type() {
        let config = json!({"providers": {"inference": [{"provider_type": "remote::vllm"}]}});
        let keys = |version| names(version, &config, "providers.inference[0].config");
        assert!(keys("0.4.7").contains(&"base_url".to_owned()), "{:?}", keys("0.4.7"));
        assert!(keys("0.3.5").contains(&"url".to_owned()), "{:?}", keys("0.3.5"));
        let entry = names("0.4.7", &config, "providers.inference[0]");
        assert_eq!(entry[..3], ["provider_id", "provider_type", "config"]);
    }

    #[test]
    fn the_tag_of_a_union_decides_about_its_keys() {
        let one = |kind: &str| json!({"storage": {"backends": {"a": {"type": kind}}}});
        assert!(names("0.4.7", &one("kv_redis"), "storage.backends.a").contains(&"host".to_owned()));
        assert!(!names("0.4.7", &one("kv_sqlite"), "storage.backends.a").contains(&"host".to_owned()));
        let language = Language::of("0.4.7").unwrap();
        let kinds = language.values(&json!({}), &Path::parse("storage.backends.a.type"));
        assert!(kinds.contains(&json!("kv_sqlite")) && kinds.contains(&json!("sql_postgres")), "{kinds:?}");
    }

    #[test]
    fn places_mean_names() {
        let of = |path: &str| meaning(&Path::parse(path));
        assert_eq!(of("registered_resources.models[0].provider_id"), Some(Meaning::ProviderOf("inference".to_owned())));
        assert_eq!(of("models[0].model_id"), Some(Meaning::Registered("models")));
        assert_eq!(of("storage.stores.metadata.backend"), Some(Meaning::Backend(Some("kv"))));
        assert_eq!(of("providers.files[0].config.metadata_store.backend"), Some(Meaning::Backend(None)));
        assert_eq!(of("server.port"), None);
    }
}
