//! What stands in the way of a config, and what generation warns of. Source: the stages of generation, and what
//! llama-stack does with the configs that would come out otherwise.

use super::super::context::RuleContext;
use super::super::finding::{Cause, Finding, Fix, Severity};
use super::super::rule::{Group, Rule};
use super::schema::{SECRET_KEY, secret_name};
use super::{
    disabled, distribution, duplicate_id, model_provider, provider_fields, provider_type, secret_variable, settings,
};
use crate::generate::{GenerateError, Warning};
use crate::nearest::nearest;
use crate::path::Segment;
use serde_json::json;

pub static OVERRIDDEN: Rule = Rule {
    id: "llsd::config::overridden",
    severity: Severity::Information,
    summary: "Nothing is generated, because the resource brings its own config.",
    why: "overrideConfig names a ConfigMap, and the server runs with exactly what that holds.",
    example: "overrideConfig: {configMapName: my-config}",
    ..Rule::PLAIN
};

pub static MISSING_SETTING: Rule = Rule {
    id: "llsd::provider::missing-setting",
    severity: Severity::Error,
    summary: "The provider type does not start without a setting that is not given.",
    why: "llama-stack exits with an error about the missing key.",
    example: "providers:\n  inference:\n    - provider: vertexai   # without settings.project",
    fixes: Some(missing_setting),
    ..Rule::PLAIN
};

pub static MISSING_API: Rule = Rule {
    id: "llsd::provider::missing-api",
    severity: Severity::Error,
    summary: "A provider requires an API that the distribution does not serve.",
    why: "llama-stack does not start when a provider's dependency is missing.",
    example: "providers:\n  toolRuntime:\n    - provider: rag-runtime   # requires files",
    ..Rule::PLAIN
};

pub static UNCHECKED: Rule = Rule {
    id: "llsd::provider::unchecked",
    severity: Severity::Warning,
    summary: "There is no catalog for the distribution's llama-stack version.",
    why: "Types, settings and the keys for endpoint and apiKey are then conventions, not knowledge.",
    example: "distribution:\n  image: quay.io/example/llama-stack:latest",
    ..Rule::PLAIN
};

pub static LABEL_VERSION: Rule = Rule {
    id: "llsd::distribution::label-version",
    severity: Severity::Warning,
    summary: "The labels of the image say another version of the config's format than the config in them has.",
    why: "The config counts. That the labels do not go together tells that the image was labelled for another config.",
    example: "distribution:\n  image: quay.io/example/llama-stack:0.4.7   # io.llamastack.config.version is 1, its config has version: 2",
    ..Rule::PLAIN
};

pub static REQUIRED: Rule = Rule {
    id: "llsd::disabled::required",
    severity: Severity::Error,
    summary: "An API is disabled that a remaining provider requires.",
    why: "llama-stack does not start when a provider's dependency is missing.",
    example: "disabled:\n  - vector_io   # agents require it",
    fixes: Some(|_, finding| vec![Fix::remove("Remove it from disabled", finding.path.clone())]),
    ..Rule::PLAIN
};

pub static NO_PROVIDER: Rule = Rule {
    id: "llsd::resources::no-provider",
    severity: Severity::Error,
    summary: "A model, tool or shield has no provider that could serve it.",
    why: "llama-stack registers resources with providers only.",
    example: "disabled: [safety]\nresources:\n  shields: [llama-guard]",
    ..Rule::PLAIN
};

pub static NO_DIMENSION: Rule = Rule {
    id: "llsd::model::no-dimension",
    severity: Severity::Error,
    summary: "An embedding model is registered that the distribution's config does not know.",
    why: "llama-stack registers embedding models with their dimension only, and exits without it.",
    example: "resources:\n  models:\n    - {name: my-embedder, modelType: embedding}",
    ..Rule::PLAIN
};

pub static NO_ADDRESS: Rule = Rule {
    id: "llsd::tool::no-address",
    severity: Severity::Error,
    summary: "A tool group of an MCP server is registered, for whose address the resource has no field.",
    why: "llama-stack asks the MCP server for its tools when it registers the group, and exits without an address.",
    example: "resources:\n  tools: [\"mcp::files\"]",
    ..Rule::PLAIN
};

pub static OTHER_PROVIDER: Rule = Rule {
    id: "llsd::tool::other-provider",
    severity: Severity::Warning,
    summary: "A tool group is registered with the resource's first toolRuntime provider, not with the usual one.",
    why: "A web search cannot serve documents: calls of the tool would go to the wrong provider.",
    example: "providers:\n  toolRuntime:\n    - provider: brave-search\nresources:\n  tools: [rag]",
    ..Rule::PLAIN
};

pub static BAD_ENDPOINT: Rule = Rule {
    id: "llsd::storage::bad-endpoint",
    severity: Severity::Error,
    summary: "The endpoint of the Redis store is not host:port.",
    why: "llama-stack takes a host and a port; user, password, path and TLS have no setting.",
    example: "storage:\n  kv: {type: redis, endpoint: \"rediss://cache\"}",
    ..Rule::PLAIN
};

pub static NO_BASE_CONFIG: Rule = Rule {
    id: "llsd::distribution::no-base-config",
    severity: Severity::Error,
    summary: "There is no config to start from for an image.",
    why: "Providers are laid over the config of the distribution. An image carries its own in OCI labels, or \
    overrideConfig replaces all of it.",
    example: "distribution:\n  image: quay.io/example/llama-stack:0.4.7",
    ..Rule::PLAIN
};

pub static UNUSABLE_BASE_CONFIG: Rule = Rule {
    id: "llsd::distribution::unusable-base-config",
    severity: Severity::Error,
    summary: "The config of the distribution is broken, or of an unsupported version.",
    why: "Versions 1 and 2 of config.yaml are supported.",
    example: "version: 3",
    ..Rule::PLAIN
};

pub(super) static GROUP: Group = Group {
    rules: &[
        &OVERRIDDEN,
        &MISSING_SETTING,
        &MISSING_API,
        &UNCHECKED,
        &LABEL_VERSION,
        &REQUIRED,
        &NO_PROVIDER,
        &NO_DIMENSION,
        &NO_ADDRESS,
        &OTHER_PROVIDER,
        &BAD_ENDPOINT,
        &NO_BASE_CONFIG,
        &UNUSABLE_BASE_CONFIG,
    ],
    check: None,
};

impl GenerateError {
    /// The rule that the error breaks.
    pub(in crate::check) fn rule(&self) -> &'static Rule {
        match self {
            Self::UnknownDistribution { .. } => &distribution::UNKNOWN,
            Self::BaseConfigRequired => &NO_BASE_CONFIG,
            Self::InvalidBase { .. } | Self::UnsupportedVersion { .. } => &UNUSABLE_BASE_CONFIG,
            Self::Overridden { .. } => &OVERRIDDEN,
            Self::ProviderType { .. } => &provider_type::UNKNOWN_TYPE,
            Self::DuplicateProvider { .. } => &duplicate_id::DUPLICATE_ID,
            Self::NoEndpoint { .. } => &provider_fields::NO_ENDPOINT,
            Self::NoApiKey { .. } => &provider_fields::NO_API_KEY,
            Self::Endpoint { .. } => &provider_fields::BAD_ENDPOINT,
            Self::MissingSetting { .. } => &MISSING_SETTING,
            Self::MissingApi { .. } => &MISSING_API,
            Self::DisabledRequired { .. } => &REQUIRED,
            Self::DisabledConflict { .. } => &disabled::HAS_PROVIDERS,
            Self::UnknownModelProvider { .. } => &model_provider::UNKNOWN_PROVIDER,
            Self::NoToolAddress { .. } => &NO_ADDRESS,
            Self::NoDimension { .. } => &NO_DIMENSION,
            Self::NoModelProvider { .. } | Self::NoToolProvider { .. } | Self::NoShieldProvider { .. } => &NO_PROVIDER,
            Self::VariableClash { .. } => &secret_variable::VARIABLE_CLASH,
            Self::RedisEndpoint { .. } => &BAD_ENDPOINT,
        }
    }
}

/// The error where it stands in the resource, with related places and what mends it.
impl From<GenerateError> for Finding {
    fn from(error: GenerateError) -> Self {
        let mut finding = Self::new(error.rule(), error.path(), error.to_string());
        let path = error.path();
        match &error {
            GenerateError::UnknownDistribution { unknown, .. } => {
                let known = unknown.available.iter().map(String::as_str);
                finding.fixes.extend(nearest(&unknown.name, known).map(|name| Fix::change_to(path, name)));
            }
            GenerateError::ProviderType { error, .. } => {
                finding.fixes.extend(error.nearest.as_deref().map(|name| Fix::change_to(path, name)));
            }
            GenerateError::DuplicateProvider { first, .. } => {
                finding = finding.with_related(first.clone(), "The other provider of this id");
            }
            GenerateError::VariableClash { first, .. } => {
                finding = finding.with_related(first.clone(), "The other secret of this variable");
            }
            GenerateError::UnknownModelProvider { provider, ids, .. } => {
                let near = nearest(provider, ids.iter().map(String::as_str));
                finding.fixes.extend(near.map(|id| Fix::change_to(path, id)));
            }
            GenerateError::NoEndpoint { .. } | GenerateError::NoApiKey { .. } => {
                finding = finding.at_key().with_fix(Fix::remove("Remove it", path));
            }
            GenerateError::DisabledConflict { written, .. } => {
                finding = finding.with_fix(Fix::remove(format!("Remove \"{written}\" from disabled"), path));
            }
            _ => {}
        }
        finding.because(Cause::Generation(Box::new(error)))
    }
}

/// The warning where it stands in the resource.
impl From<&Warning> for Finding {
    fn from(warning: &Warning) -> Self {
        let path = warning.path().clone();
        let message = warning.to_string();
        match warning {
            Warning::Overridden { .. } => Self::new(&settings::OVERRIDDEN, path, message).at_key(),
            Warning::Unchecked { .. } => Self::new(&UNCHECKED, path, message),
            Warning::ConditionalProvider { .. } => Self::new(&model_provider::CONDITIONAL_PROVIDER, path, message),
            Warning::LabelVersion { .. } => Self::new(&LABEL_VERSION, path, message),
            Warning::OtherProvider { .. } => Self::new(&OTHER_PROVIDER, path, message),
        }
    }
}

/// An address or key without which the provider does not start.
fn missing_setting(context: &RuleContext<'_>, finding: &Finding) -> Vec<Fix> {
    let path = &finding.path;
    let Some(entry) = context.provider_at(path) else { return Vec::new() };
    let Some((Ok(known), id)) = context.resolved(entry).zip(entry.id) else { return Vec::new() };
    match path.last() {
        Some(Segment::Key(name)) if name == "endpoint" => {
            let below = known.endpoint_path.as_deref().unwrap_or_default();
            let host: String = id.chars().map(|char| if char.is_ascii_alphanumeric() { char } else { '-' }).collect();
            vec![Fix::insert("Add an endpoint", path.clone(), format!("http://{host}:8000{below}"))]
        }
        Some(Segment::Key(name)) if known.api_key.as_ref() == Some(name) || name == "apiKey" => {
            let reference = json!({"secretKeyRef": {"name": secret_name(context, path), "key": SECRET_KEY}});
            vec![Fix::insert("Add an apiKey", entry.path.key("apiKey"), reference)]
        }
        _ => Vec::new(),
    }
}
