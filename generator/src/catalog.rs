//! What each llama-stack version knows: its provider types, the config keys they read, and what they need.
//!
//! The data are the files `configs/catalog/<version>.yaml`, embedded. A version is parsed when it is first asked
//! for, once per process.

mod endpoint;
mod load;

use std::collections::HashSet;
use std::sync::OnceLock;

use include_dir::{Dir, include_dir};
use indexmap::IndexMap;
use serde_json::Value;

pub use endpoint::{Endpoint, EndpointError};

static FILES: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../configs/catalog");

/// The provider types of one llama-stack version.
#[derive(Clone, PartialEq, Debug)]
pub struct Catalog {
    version: String,
    names: Vec<String>,
    internal: Vec<String>,
    routing: IndexMap<String, String>,
    providers: IndexMap<String, IndexMap<String, ProviderType>>,
}

impl Catalog {
    /// The catalog of exactly this llama-stack version, such as `0.4.7`. `None` when there is none.
    pub fn for_version(version: &str) -> Option<&'static Self> {
        let shelf = shelf();
        let place = shelf.versions.iter().position(|known| known == version)?;
        shelf.parsed[place].get_or_init(|| load::parse(shelf.texts[place]).ok()).as_ref()
    }

    /// The versions that have a catalog, oldest first.
    pub fn versions() -> &'static [String] {
        &shelf().versions
    }

    /// The versions that know a provider type by its full name, oldest first.
    pub fn versions_with(api: &str, provider_type: &str) -> Vec<&'static str> {
        let all = Self::versions().iter().map(String::as_str);
        all.filter(|version| Self::has_type(version, api, provider_type)).collect()
    }

    /// Whether a version knows a provider type by its full name. No catalog is parsed for this: their files have one
    /// line per type, indented below its API.
    pub fn has_type(version: &str, api: &str, provider_type: &str) -> bool {
        let shelf = shelf();
        let Some(place) = shelf.versions.iter().position(|known| known == version) else { return false };
        shelf.types[place].get_or_init(|| types(shelf.texts[place])).contains(&(api, provider_type))
    }

    /// The llama-stack version that this catalog describes.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The APIs that take providers, in llama-stack spelling (`vector_io`). An API may have no type at all.
    pub fn apis(&self) -> impl Iterator<Item = &str> {
        self.providers.keys().map(String::as_str)
    }

    /// Every API name that the version knows: those of [`Self::apis`], the tables of registered resources
    /// (`models`, `shields`, …) and those that the server provides itself (`inspect`, …).
    pub fn api_names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// The APIs that the server provides itself; they take no providers.
    pub fn internal_apis(&self) -> impl Iterator<Item = &str> {
        self.internal.iter().map(String::as_str)
    }

    /// The API that keeps the registered resources of `api`: `models` for `inference`, `tool_groups` for
    /// `tool_runtime`.
    pub fn resource_api(&self, api: &str) -> Option<&str> {
        self.routing.get(api).map(String::as_str)
    }

    /// The provider types of an API, in order of name. Empty for an unknown API.
    pub fn providers(&self, api: &str) -> impl Iterator<Item = &ProviderType> {
        self.providers.get(api).into_iter().flat_map(IndexMap::values)
    }

    /// One provider type by API and full name (`remote::vllm`).
    pub fn provider(&self, api: &str, provider_type: &str) -> Option<&ProviderType> {
        self.providers.get(api)?.get(provider_type)
    }
}

/// One kind of provider, as `provider_type` names it in a config.yaml.
#[derive(Clone, PartialEq, Debug)]
pub struct ProviderType {
    /// The full name, `remote::` or `inline::` included.
    pub provider_type: String,
    /// What it is, in one sentence.
    pub summary: String,
    /// The config keys that it reads. llama-stack ignores others in silence.
    pub config: IndexMap<String, ConfigKey>,
    /// Whether keys outside of `config` are handed on to the provider's own client, so that they count.
    pub open: bool,
    /// The APIs that must be served for this provider to start.
    pub requires: Vec<String>,
    /// The APIs that it uses when they are served.
    pub optional: Vec<String>,
    /// The keys that its address goes to. `None`: it takes no address.
    pub endpoint: Option<Endpoint>,
    /// Why a remote type takes no address and what to do instead; begins in lower case or with a name, no full stop.
    pub endpoint_hint: Option<String>,
    /// The path that the address has to end with, such as `/v1`. Without it the server starts and lists no models.
    pub endpoint_path: Option<String>,
    /// The key that its API key goes to. `None`: it uses no key.
    pub api_key: Option<String>,
    /// Why a remote type uses no key and what to do instead; written like `endpoint_hint`.
    pub api_key_hint: Option<String>,
    /// Set when the type is on its way out: what to do, such as `use inline::sqlite-vec`.
    pub deprecated: Option<String>,
    /// The type of the same API that takes the place of a deprecated one, in full.
    pub successor: Option<String>,
}

impl ProviderType {
    /// Whether the provider is a service outside of the server.
    pub fn is_remote(&self) -> bool {
        self.provider_type.starts_with("remote::")
    }
}

/// One key of a provider's `config`.
#[derive(Clone, PartialEq, Debug)]
pub struct ConfigKey {
    /// The type of its value.
    pub kind: KeyKind,
    /// The value that holds when the key is absent. `None`: null, or not worth showing.
    pub default: Option<Value>,
    /// Whether the server refuses to start without it.
    pub required: bool,
    /// Whether the server accepts null as a value, whatever the kind.
    pub nullable: bool,
    /// Whether it holds a secret, which belongs into a Secret and not into the resource.
    pub secret: bool,
    /// Whether the value has to be an `http` or `https` URL; the server refuses others.
    pub url: bool,
    /// Whether the key is on its way out.
    pub deprecated: bool,
    /// The values that are accepted. Empty: any of the kind.
    pub values: Vec<Value>,
    /// What each item of a list has to be, and each value of a mapping with keys of the user's choice. `None`: anything.
    pub items: Option<Box<ConfigKey>>,
    /// What it means, in one sentence or two.
    pub description: String,
}

/// The type of a config key's value.
#[derive(Clone, PartialEq, Debug)]
pub enum KeyKind {
    /// A string.
    String,
    /// A number without fraction.
    Integer,
    /// Any number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// A list; [`ConfigKey::items`] says of what.
    Array,
    /// A mapping with these keys. No keys: a mapping with keys of the user's choice, to [`ConfigKey::items`].
    Object(IndexMap<String, ConfigKey>),
    /// True or false, or the path of a file.
    BooleanOrPath,
    /// One of several types; the description says which.
    Any,
}

impl KeyKind {
    /// The kind as a word for messages: `string`, `integer`, …; `value` where several are possible.
    pub fn name(&self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Boolean => "boolean",
            Self::Array => "list",
            Self::Object(_) => "mapping",
            Self::BooleanOrPath => "boolean or path",
            Self::Any => "value",
        }
    }
}

/// The embedded files, and what has been read of them. The lists go together.
struct Shelf {
    versions: Vec<String>,
    texts: Vec<&'static str>,
    parsed: Vec<OnceLock<Option<Catalog>>>,
    types: Vec<OnceLock<HashSet<(&'static str, &'static str)>>>,
}

/// API and full name of each provider type in a catalog's text.
fn types(text: &'static str) -> HashSet<(&'static str, &'static str)> {
    let (mut api, mut found) = ("", HashSet::new());
    for line in text.lines().skip_while(|line| *line != "providers:").skip(1) {
        let name = line.trim_start().split(": ").next().unwrap_or_default();
        let name = name.strip_suffix(':').unwrap_or(name);
        match line.len() - line.trim_start().len() {
            2 => api = name,
            4 => {
                found.insert((api, name));
            }
            _ => {}
        }
    }
    found
}

fn shelf() -> &'static Shelf {
    static SHELF: OnceLock<Shelf> = OnceLock::new();
    SHELF.get_or_init(|| {
        let mut files: Vec<(Vec<u32>, &str, &str)> = FILES
            .files()
            .filter_map(|file| {
                let version = file.path().to_str()?.strip_suffix(".yaml")?;
                let numbers = version.split('.').map_while(|part| part.parse().ok()).collect();
                Some((numbers, version, file.contents_utf8()?))
            })
            .collect();
        files.sort();
        Shelf {
            versions: files.iter().map(|(_, version, _)| (*version).to_owned()).collect(),
            texts: files.iter().map(|(_, _, text)| *text).collect(),
            parsed: files.iter().map(|_| OnceLock::new()).collect(),
            types: files.iter().map(|_| OnceLock::new()).collect(),
        }
    })
}

#[cfg(test)]
mod tests;
