//! Reads a catalog file: the form on disk, and its unfolding into [`Catalog`].

use indexmap::IndexMap;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::{Catalog, ConfigKey, Endpoint, KeyKind, ProviderType};

/// Shapes name each other; the real ones nest three deep.
const MAX_DEPTH: usize = 8;

/// Why a catalog file cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum LoadError {
    /// The file is not the YAML that it should be.
    #[error(transparent)]
    Yaml(#[from] serde_yaml::Error),
    /// A key refers to a shape that the file does not have, or the shapes go in a circle.
    #[error("shape \"{0}\" is missing or contains itself")]
    Shape(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    version: String,
    names: Vec<String>,
    internal: Vec<String>,
    routing: IndexMap<String, String>,
    /// Objects that several keys share, by name.
    shapes: IndexMap<String, IndexMap<String, Key>>,
    providers: IndexMap<String, IndexMap<String, Type>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Type {
    summary: String,
    // Both are written even where they are null, so that a new type cannot go without an answer.
    #[serde(deserialize_with = "present")]
    endpoint: Option<Place>,
    #[serde(deserialize_with = "present")]
    api_key: Option<String>,
    endpoint_hint: Option<String>,
    endpoint_path: Option<String>,
    api_key_hint: Option<String>,
    deprecated: Option<String>,
    successor: Option<String>,
    #[serde(default)]
    open: bool,
    #[serde(default)]
    requires: Vec<String>,
    #[serde(default)]
    optional: Vec<String>,
    #[serde(default)]
    config: IndexMap<String, Key>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Place {
    Key(String),
    HostPort { host: String, port: String },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Key {
    r#type: Kind,
    #[serde(default)]
    required: bool,
    #[serde(default)]
    nullable: bool,
    #[serde(default)]
    secret: bool,
    #[serde(default)]
    url: bool,
    #[serde(default)]
    deprecated: bool,
    default: Option<Value>,
    #[serde(default)]
    values: Vec<Value>,
    /// The type of what a list or a mapping holds.
    items: Option<Kind>,
    description: String,
    /// The shape of an object.
    keys: Option<String>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    String,
    Integer,
    Number,
    Boolean,
    Array,
    Object,
    #[serde(rename = "boolean-or-path")]
    BooleanOrPath,
    Any,
}

impl From<Kind> for KeyKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::String => Self::String,
            Kind::Integer => Self::Integer,
            Kind::Number => Self::Number,
            Kind::Boolean => Self::Boolean,
            Kind::Array => Self::Array,
            Kind::Object => Self::Object(IndexMap::new()),
            Kind::BooleanOrPath => Self::BooleanOrPath,
            Kind::Any => Self::Any,
        }
    }
}

fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    Option::deserialize(deserializer)
}

pub(super) fn parse(text: &str) -> Result<Catalog, LoadError> {
    let file: File = serde_yaml::from_str(text)?;
    let mut providers = IndexMap::new();
    for (api, types) in &file.providers {
        let types: Result<IndexMap<_, _>, LoadError> =
            types.iter().map(|(name, found)| Ok((name.clone(), provider_type(name, found, &file.shapes)?))).collect();
        providers.insert(api.clone(), types?);
    }
    Ok(Catalog { version: file.version, names: file.names, internal: file.internal, routing: file.routing, providers })
}

type Shapes = IndexMap<String, IndexMap<String, Key>>;

fn provider_type(name: &str, found: &Type, shapes: &Shapes) -> Result<ProviderType, LoadError> {
    Ok(ProviderType {
        provider_type: name.to_owned(),
        summary: found.summary.clone(),
        config: unfold(&found.config, shapes, 0)?,
        open: found.open,
        requires: found.requires.clone(),
        optional: found.optional.clone(),
        endpoint: found.endpoint.as_ref().map(|place| match place {
            Place::Key(key) => Endpoint::Key(key.clone()),
            Place::HostPort { host, port } => Endpoint::HostPort { host: host.clone(), port: port.clone() },
        }),
        endpoint_hint: found.endpoint_hint.clone(),
        endpoint_path: found.endpoint_path.clone(),
        api_key: found.api_key.clone(),
        api_key_hint: found.api_key_hint.clone(),
        deprecated: found.deprecated.clone(),
        successor: found.successor.clone(),
    })
}

/// What a list or a mapping holds, as a key of its own.
fn item(kind: Kind, of: &Key) -> ConfigKey {
    ConfigKey {
        kind: kind.into(),
        default: None,
        required: true,
        nullable: false,
        secret: of.secret,
        url: false,
        deprecated: false,
        values: Vec::new(),
        items: None,
        description: of.description.clone(),
    }
}

fn unfold(
    keys: &IndexMap<String, Key>,
    shapes: &Shapes,
    depth: usize,
) -> Result<IndexMap<String, ConfigKey>, LoadError> {
    let unfolded = keys.iter().map(|(name, key)| {
        let kind = match (key.r#type, &key.keys) {
            (Kind::Object, Some(shape)) => {
                let body = shapes.get(shape).filter(|_| depth < MAX_DEPTH);
                let body = body.ok_or_else(|| LoadError::Shape(shape.clone()))?;
                KeyKind::Object(unfold(body, shapes, depth + 1)?)
            }
            (plain, _) => plain.into(),
        };
        let key = ConfigKey {
            kind,
            items: key.items.map(|items| Box::new(item(items, key))),
            default: key.default.clone(),
            required: key.required,
            nullable: key.nullable,
            secret: key.secret,
            url: key.url,
            deprecated: key.deprecated,
            values: key.values.clone(),
            description: key.description.clone(),
        };
        Ok((name.clone(), key))
    });
    unfolded.collect()
}
