//! Why no config can be generated.

use super::providers::ProviderTypeError;
use crate::api::CrdRule;
use crate::catalog::EndpointError;
use crate::distribution::UnknownDistribution;
use crate::path::Path;

/// What stands in the way of a config. The text is what the user reads; [`GenerateError::path`] says where.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum GenerateError {
    /// The distribution's name stands for nothing.
    #[error("{unknown}")]
    UnknownDistribution {
        /// The place of the name.
        path: Path,
        /// The distributions that exist, and the nearest name.
        unknown: UnknownDistribution,
    },
    /// An image is named directly: it has no embedded base config, and its labels carry none.
    #[error("Direct image references require either overrideConfig.configMapName or OCI config labels on the image")]
    BaseConfigRequired,
    /// The base config cannot be read.
    #[error("The base config is not usable: {message} (line {line})")]
    InvalidBase {
        /// What is wrong with it.
        message: String,
        /// The line of the fault in the base config, counted from 1.
        line: usize,
    },
    /// The base config has another schema.
    #[error("Unsupported config.yaml version {version}. Supported versions: 1, 2")]
    UnsupportedVersion {
        /// The value of `version` in the base config, as it is written there.
        version: String,
    },
    /// The resource brings its own config.
    #[error("Nothing is generated: the server uses the config of ConfigMap \"{config_map}\"")]
    Overridden {
        /// The value of `spec.overrideConfig.configMapName`.
        config_map: String,
    },
    /// A provider type that the version does not have.
    #[error("{error}")]
    ProviderType {
        /// The place of the type.
        path: Path,
        /// The provider types that exist, and the nearest name.
        error: Box<ProviderTypeError>,
    },
    /// Two providers of the generated config would have one id; llama-stack would use the later one in silence.
    #[error("duplicate provider id \"{id}\": used by {first} and {second}")]
    DuplicateProvider {
        /// The id, explicit or derived from the provider type.
        id: String,
        /// The first provider of that id.
        first: Path,
        /// The provider that repeats it; the finding is shown here.
        second: Path,
    },
    /// A type that has no setting for an address.
    #[error("{provider_type} takes no endpoint{}", because(.hint.as_deref()))]
    NoEndpoint {
        /// The place of the endpoint.
        path: Path,
        /// The provider type with its prefix, `remote::vllm`.
        provider_type: String,
        /// What to set instead, if the catalog knows; a part of a sentence.
        hint: Option<String>,
    },
    /// A type that has no setting for a key.
    #[error("{provider_type} takes no apiKey{}", because(.hint.as_deref()))]
    NoApiKey {
        /// The place of the key.
        path: Path,
        /// The provider type with its prefix, `remote::vllm`.
        provider_type: String,
        /// What to set instead, if the catalog knows; a part of a sentence.
        hint: Option<String>,
    },
    /// An address that the type cannot use.
    #[error("{error}")]
    Endpoint {
        /// The place of the address.
        path: Path,
        /// What is wrong with it.
        error: EndpointError,
    },
    /// The server would not start without this setting.
    #[error("{provider_type} does not start without {}", asked(.path, .key))]
    MissingSetting {
        /// The place where the setting would have to be written.
        path: Path,
        /// The provider type with its prefix, `remote::vllm`.
        provider_type: String,
        /// The key in the provider's config.
        key: String,
    },
    /// A provider needs an API that the config does not serve.
    #[error("Provider \"{id}\" ({api}) requires the API {required}, which this distribution does not serve")]
    MissingApi {
        /// The place of the provider.
        path: Path,
        /// The id of the provider.
        id: String,
        /// The API that the provider serves, in llama-stack's spelling.
        api: String,
        /// The API that its type depends on, from the catalog.
        required: String,
    },
    /// An API that others need cannot be disabled.
    #[error(
        "{api} cannot be disabled: provider \"{id}\" of {dependent} requires it. Disable {dependent} too, or keep {api}"
    )]
    DisabledRequired {
        /// The item of `spec.disabled`.
        path: Path,
        /// The API that is disabled, in llama-stack's spelling.
        api: String,
        /// The provider that needs it.
        id: String,
        /// The API of that provider.
        dependent: String,
    },
    /// An API is both given providers and disabled.
    #[error(
        "spec.providers.{field} conflicts with spec.disabled: {api} API is disabled but has providers configured. \
         Remove the provider configuration or remove '{written}' from the disabled list."
    )]
    DisabledConflict {
        /// The item of `spec.disabled`.
        path: Path,
        /// The API in llama-stack's spelling.
        api: String,
        /// The field of `spec.providers` for this API, in the CRD's spelling.
        field: String,
        /// The item of `spec.disabled` as the user wrote it; both spellings of an API are accepted.
        written: String,
    },
    /// A model names a provider that does not exist.
    #[error("Model \"{model}\" names provider \"{provider}\", which does not exist. {}", available(.ids))]
    UnknownModelProvider {
        /// The place of the provider's id.
        path: Path,
        /// The `name` of the model.
        model: String,
        /// The id that does not exist.
        provider: String,
        /// The provider ids of the inference API that the generated config has.
        ids: Vec<String>,
    },
    /// llama-stack registers embedding models with their dimension only.
    #[error(
        "Embedding model \"{model}\" cannot be registered: llama-stack needs its dimension, which only the distribution's \
         config can state. Use overrideConfig for it"
    )]
    NoDimension {
        /// The place of the model's type.
        path: Path,
        /// The `name` of the model.
        model: String,
    },
    /// No inference provider for a model.
    #[error("resources.models requires at least one inference provider to be configured")]
    NoModelProvider {
        /// The place of the first model.
        path: Path,
    },
    /// No tool runtime provider for a tool group.
    #[error("resources.tools requires at least one toolRuntime provider to be configured")]
    NoToolProvider {
        /// The place of the first tool group.
        path: Path,
    },
    /// A tool group of an MCP server, whose address the resource has no field for.
    #[error(
        "Tool group \"{tool}\" cannot be registered: llama-stack needs the address of its MCP server. Clients can name the \
         server in their requests, or overrideConfig can register it"
    )]
    NoToolAddress {
        /// The place of the tool group.
        path: Path,
        /// The id of the tool group.
        tool: String,
    },
    /// No safety provider for a shield.
    #[error("resources.shields requires at least one safety provider to be configured")]
    NoShieldProvider {
        /// The place of the first shield.
        path: Path,
    },
    /// Two secrets would have to share a variable.
    #[error("{first} and {second} would both become the environment variable {variable}. Change one of the ids")]
    VariableClash {
        /// The name that both would get, in llama-stack's alphabet `[A-Z0-9_]`.
        variable: String,
        /// The secret reference that comes first in the resource.
        first: Path,
        /// The later one; the finding is shown here.
        second: Path,
    },
    /// An address that the Redis backend cannot use. The text does not quote it, because it may hold a password.
    #[error("storage.kv.endpoint must be host:port or redis://host:port, without user, password, path or TLS")]
    RedisEndpoint {
        /// The place of the address.
        path: Path,
    },
}

fn because(hint: Option<&str>) -> String {
    hint.map(|hint| format!(": {hint}")).unwrap_or_default()
}

fn asked(path: &Path, key: &str) -> String {
    match path.last() {
        Some(crate::path::Segment::Key(last)) if last == "endpoint" => format!("an endpoint (its setting {key})"),
        _ => format!("the setting {key}"),
    }
}

fn available(ids: &[String]) -> String {
    if ids.is_empty() { "There is no inference provider".to_owned() } else { format!("Available: {}", ids.join(", ")) }
}

impl GenerateError {
    /// The place in the resource that the error speaks of.
    #[must_use]
    pub fn path(&self) -> Path {
        let spec = Path::root().key("spec");
        match self {
            Self::BaseConfigRequired => spec.key("distribution").key("image"),
            Self::InvalidBase { .. } | Self::UnsupportedVersion { .. } => spec.key("distribution"),
            Self::Overridden { .. } => spec.key("overrideConfig"),
            Self::UnknownDistribution { path, .. }
            | Self::ProviderType { path, .. }
            | Self::NoEndpoint { path, .. }
            | Self::NoApiKey { path, .. }
            | Self::Endpoint { path, .. }
            | Self::MissingSetting { path, .. }
            | Self::MissingApi { path, .. }
            | Self::DisabledRequired { path, .. }
            | Self::DisabledConflict { path, .. }
            | Self::UnknownModelProvider { path, .. }
            | Self::NoDimension { path, .. }
            | Self::NoModelProvider { path }
            | Self::NoToolProvider { path }
            | Self::NoToolAddress { path, .. }
            | Self::NoShieldProvider { path }
            | Self::RedisEndpoint { path } => path.clone(),
            Self::DuplicateProvider { second, .. } | Self::VariableClash { second, .. } => second.clone(),
        }
    }

    /// The reason for the condition `ConfigGenerated` of the resource.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        match self {
            Self::BaseConfigRequired => "BaseConfigRequired",
            Self::UnsupportedVersion { .. } => "UnsupportedConfigVersion",
            Self::UnknownModelProvider { .. }
            | Self::NoModelProvider { .. }
            | Self::NoToolProvider { .. }
            | Self::NoShieldProvider { .. } => "MissingProviderForResource",
            _ => "ConfigGenerationFailed",
        }
    }

    /// The rule of the CRD that is broken as well.
    #[must_use]
    pub fn crd_rule(&self) -> Option<CrdRule> {
        match self {
            Self::DuplicateProvider { .. } => Some(CrdRule::UniqueIds),
            Self::DisabledConflict { written, .. } => CrdRule::enabled(written),
            _ => None,
        }
    }
}
