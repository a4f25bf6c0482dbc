//! The typed providers: which there are, and what the operator makes of each. Source: upstream's generator.
//!
//! A provider stands at `spec.providers.<api>.<remote|inline>.<type>`; its fields follow the schema, so that only what
//! does not follow from a name is said here.

use crate::path::Path;
use serde_json::Value;

/// An API that takes providers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Api {
    /// The field of `spec.providers`: `vectorIo`.
    pub field: &'static str,
    /// The API in the config's spelling, which `disabledAPIs` has, too: `vector_io`.
    pub name: &'static str,
    /// The types with fields of their own, in the order in which they are emitted.
    types: [&'static [&'static str]; 2],
}

/// Every API, in the order in which upstream's generator writes them. Each has `custom` on both sides beside its types.
pub const APIS: [Api; 7] = [
    Api {
        field: "inference",
        name: "inference",
        types: [&["vllm", "openai", "azure", "bedrock", "vertexai", "watsonx"], &[]],
    },
    Api { field: "vectorIo", name: "vector_io", types: [&["pgvector", "milvus", "qdrant"], &[]] },
    Api {
        field: "toolRuntime",
        name: "tool_runtime",
        types: [&["braveSearch", "tavilySearch", "modelContextProtocol"], &["fileSearch"]],
    },
    Api { field: "files", name: "files", types: [&["s3"], &["localfs"]] },
    Api { field: "batches", name: "batches", types: [&[], &["reference"]] },
    Api { field: "responses", name: "responses", types: [&[], &["builtin"]] },
    Api {
        field: "fileProcessors",
        name: "file_processors",
        types: [&["doclingServe"], &["auto", "pypdf", "markitdown", "docling"]],
    },
];

/// The field for providers of any type.
pub const CUSTOM: &str = "custom";

/// Where a provider runs, as its type says.
pub const SIDES: [&str; 2] = ["remote", "inline"];

/// One provider of a resource.
#[derive(Clone, Debug)]
pub struct Entry<'a> {
    /// The API whose list the entry stands in.
    pub api: &'static Api,
    /// Where the provider runs, one of [`SIDES`].
    pub side: &'static str,
    /// The field that it stands in: the type, or [`CUSTOM`].
    pub field: &'a str,
    /// The path of the entry in the resource.
    pub path: Path,
    /// The fields of the entry, which may be broken.
    pub value: &'a Value,
}

impl Entry<'_> {
    /// The type that the operator writes; empty where a custom provider has none.
    #[must_use]
    pub fn provider_type(&self) -> String {
        match self.field {
            CUSTOM => self.value["type"].as_str().unwrap_or_default().to_owned(),
            // Upstream's names for these three, which no version of ogx has.
            "fileSearch" => "inline::rag-runtime".to_owned(),
            "reference" => "inline::batch-reference".to_owned(),
            "builtin" => "inline::responses".to_owned(),
            field => format!("{}::{}", self.side, kebab(field)),
        }
    }

    /// Its id, explicit or by its type.
    #[must_use]
    pub fn id(&self) -> String {
        let written = self.value["id"].as_str().filter(|id| !id.is_empty());
        written.map_or_else(|| self.default_id(), str::to_owned)
    }

    /// The id of a provider without one.
    #[must_use]
    pub fn default_id(&self) -> String {
        match self.field {
            CUSTOM => self.provider_type().replace("::", "-"),
            field => format!("{}-{}", self.side, kebab(field)),
        }
    }
}

/// The providers of `spec.providers`, API by API, in the order in which they get into the config.
#[must_use]
pub fn entries(object: &Value) -> Vec<Entry<'_>> {
    let mut found = Vec::new();
    let (providers, at) = (&object["spec"]["providers"], Path::parse("spec.providers"));
    for api in &APIS {
        for (side, types) in SIDES.into_iter().zip(api.types) {
            let (fields, at) = (&providers[api.field][side], at.key(api.field).key(side));
            for field in types.iter().copied().chain([CUSTOM]) {
                let (value, path) = (&fields[field], at.key(field));
                let entry = |value, path| Entry { api, side, field, path, value };
                match value {
                    Value::Array(items) => {
                        let items = items.iter().enumerate().filter(|(_, item)| item.is_object());
                        found.extend(items.map(|(number, item)| entry(item, path.index(number))));
                    }
                    Value::Object(_) => found.push(entry(value, path)),
                    _ => {}
                }
            }
        }
    }
    found
}

/// The config's key for a field of a typed provider, at the way there from the provider. A key that no rule changes is
/// the field in the config's spelling.
#[must_use]
pub fn config_key(provider_type: &str, way: &[&str]) -> String {
    match (provider_type, way) {
        ("remote::vllm" | "remote::openai" | "remote::azure" | "remote::watsonx", ["endpoint"]) => {
            "base_url".to_owned()
        }
        ("remote::bedrock", ["region"]) => "region_name".to_owned(),
        (_, ["network", "proxy", "cacert"]) => "ca_cert".to_owned(),
        // Names of HTTP headers are the user's.
        (_, ["network", "headers", name]) => (*name).to_owned(),
        (_, way) => snake(way.last().copied().unwrap_or_default()),
    }
}

/// Turns a field into a key of the config: `sessionTTL` into `session_ttl`.
fn snake(name: &str) -> String {
    separated(name, '_')
}

/// Turns a field into a name: `braveSearch` into `brave-search`.
fn kebab(name: &str) -> String {
    separated(name, '-')
}

/// A separator in front of each capital that follows a small letter or digit; all letters small.
fn separated(name: &str, separator: char) -> String {
    let mut out = String::with_capacity(name.len() + 4);
    let mut before = None;
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && before.is_some_and(|before: char| !before.is_ascii_uppercase()) {
            out.push(separator);
        }
        out.push(letter.to_ascii_lowercase());
        before = Some(letter);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ogx::crd;

    #[test]
    fn the_table_has_the_types_of_the_schema() {
        let providers = &crd::schema()["properties"]["spec"]["properties"]["providers"]["properties"];
        let fields = |schema: &Value| -> Vec<String> {
            schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect()
        };
        assert_eq!(providers.as_object().map(serde_json::Map::len), Some(APIS.len()));
        for api in APIS {
            for (side, types) in SIDES.into_iter().zip(api.types) {
                let mut known: Vec<String> = types.iter().copied().chain([CUSTOM]).map(str::to_owned).collect();
                known.sort();
                let mut declared = fields(&providers[api.field]["properties"][side]);
                declared.sort();
                assert_eq!(known, declared, "{} {side}", api.field);
            }
        }
    }

    #[test]
    fn fields_become_keys() {
        let key = |way: &[&str]| config_key("remote::vllm", way);
        assert_eq!(key(&["endpoint"]), "base_url");
        assert_eq!(key(&["network", "headers", "X-Team"]), "X-Team");
        assert_eq!(key(&["network", "proxy", "noProxy"]), "no_proxy");
        assert_eq!(config_key("remote::bedrock", &["sessionTTL"]), "session_ttl");
        assert_eq!(config_key("remote::s3", &["endpointUrl"]), "endpoint_url");
    }
}
