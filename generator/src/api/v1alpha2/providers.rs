//! `spec.providers` and `spec.externalProviders`: one list per API, with ids that are unique over the lists.

use super::rule;
use crate::names::SUBDOMAIN_PATTERN;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The APIs that take providers, each with its field in `spec.providers`: llama-stack's spelling and ours. In schema order.
pub const PROVIDER_FIELDS: [(&str, &str); 5] = [
    ("inference", "inference"),
    ("safety", "safety"),
    ("vector_io", "vectorIo"),
    ("tool_runtime", "toolRuntime"),
    ("telemetry", "telemetry"),
];

/// The API that takes providers and is called `name` in either spelling, with its field; see [`PROVIDER_FIELDS`].
#[must_use]
pub fn provider_field(name: &str) -> Option<(&'static str, &'static str)> {
    PROVIDER_FIELDS.into_iter().find(|(api, field)| [*api, *field].contains(&name))
}

/// The id of a provider that gives none: the part of what stands at `provider` after the last `::`.
#[must_use]
pub fn implied_id(provider: &str) -> &str {
    provider.rsplit("::").next().unwrap_or(provider)
}

/// The providers, one list per API.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [unique_ids()]))]
pub struct Providers {
    /// Providers of models: chat, completion, embedding, rerank.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 16), extend("x-kubernetes-validations" = [explicit_ids()]))]
    pub inference: Option<Vec<Provider>>,
    /// Providers of shields, which judge what goes in and out of a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 16), extend("x-kubernetes-validations" = [explicit_ids()]))]
    pub safety: Option<Vec<Provider>>,
    /// Providers of vector stores: vector databases and search engines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 16), extend("x-kubernetes-validations" = [explicit_ids()]))]
    pub vector_io: Option<Vec<Provider>>,
    /// Providers of tool groups, such as web search or MCP servers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 16), extend("x-kubernetes-validations" = [explicit_ids()]))]
    pub tool_runtime: Option<Vec<Provider>>,
    /// Providers of traces and metrics. Only llama-stack before 0.3 has this API.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 16), extend("x-kubernetes-validations" = [explicit_ids()]))]
    pub telemetry: Option<Vec<Provider>>,
}

impl Providers {
    /// Every API that has a list here: llama-stack's spelling, the field's name, and the providers. In schema order.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &'static str, &[Provider])> {
        let lists = [&self.inference, &self.safety, &self.vector_io, &self.tool_runtime, &self.telemetry];
        PROVIDER_FIELDS.into_iter().zip(lists).filter_map(|((api, field), list)| Some((api, field, list.as_deref()?)))
    }
}

/// One provider of an API.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Provider {
    /// The provider's id. Needed when its list has more than one entry; otherwise the part of `provider` after the
    /// last `::`. Unique over all lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub id: Option<String>,
    /// The provider type: `vllm`, or with its kind `remote::vllm`, `inline::sentence-transformers`.
    #[schemars(length(min = 1, max = 128))]
    pub provider: String,
    /// Address of the service, for remote types. Goes to the setting that this type reads it from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 2048))]
    pub endpoint: Option<String>,
    /// The key for the service, from a Secret. Never written into the configuration: the server reads it from its
    /// environment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_key: Option<SecretKeyRef>,
    /// Further settings whose values come from Secrets, by setting name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("minProperties" = 1, "maxProperties" = 32))]
    pub secret_refs: Option<BTreeMap<String, SecretKeyRef>>,
    /// Settings of this provider type, as llama-stack spells them. `endpoint`, `apiKey` and `secretRefs` win over the
    /// same setting here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "free_object")]
    pub settings: Option<Map<String, Value>>,
}

impl Provider {
    /// The id that the provider has: its own, or the implied one.
    #[must_use]
    pub fn effective_id(&self) -> &str {
        match &self.id {
            Some(id) => id,
            None => implied_id(&self.provider),
        }
    }
}

/// A value held by a Secret.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SecretKeyRef {
    /// The Secret, and the key in it.
    pub secret_key_ref: SecretKeySelector,
}

/// A key of a Secret in the resource's namespace.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SecretKeySelector {
    /// Name of a Secret in the same namespace.
    #[schemars(length(min = 1, max = 253), regex(pattern = SUBDOMAIN_PATTERN))]
    pub name: String,
    /// The key whose value is used.
    #[schemars(length(min = 1, max = 253))]
    pub key: String,
}

/// Providers that come as images, one list per API.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [unique_external_ids()]))]
pub struct ExternalProviders {
    /// External providers of models: chat, completion, embedding, rerank.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 16))]
    pub inference: Option<Vec<ExternalProvider>>,
    /// External providers of shields, which judge what goes in and out of a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 16))]
    pub safety: Option<Vec<ExternalProvider>>,
    /// External providers of agents, which run conversations with tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 16))]
    pub agents: Option<Vec<ExternalProvider>>,
    /// External providers of vector stores: vector databases and search engines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 16))]
    pub vector_io: Option<Vec<ExternalProvider>>,
    /// External providers of data sets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 16))]
    pub dataset_io: Option<Vec<ExternalProvider>>,
    /// External providers of scoring, which grade what a model answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 16))]
    pub scoring: Option<Vec<ExternalProvider>>,
    /// External providers of evaluations, which run benchmarks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 16))]
    pub eval: Option<Vec<ExternalProvider>>,
    /// External providers of tool groups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 16))]
    pub tool_runtime: Option<Vec<ExternalProvider>>,
    /// External providers of training, which fine-tune models.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 16))]
    pub post_training: Option<Vec<ExternalProvider>>,
}

/// The APIs that take external providers, each with its field: llama-stack's spelling and ours.
const EXTERNAL_FIELDS: [(&str, &str); 9] = [
    ("inference", "inference"),
    ("safety", "safety"),
    ("agents", "agents"),
    ("vector_io", "vectorIo"),
    ("datasetio", "datasetIo"),
    ("scoring", "scoring"),
    ("eval", "eval"),
    ("tool_runtime", "toolRuntime"),
    ("post_training", "postTraining"),
];

impl ExternalProviders {
    /// Every API that has a list here: llama-stack's spelling, the field's name, and the providers. In schema order.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &'static str, &[ExternalProvider])> {
        let lists = [
            &self.inference,
            &self.safety,
            &self.agents,
            &self.vector_io,
            &self.dataset_io,
            &self.scoring,
            &self.eval,
            &self.tool_runtime,
            &self.post_training,
        ];
        EXTERNAL_FIELDS.into_iter().zip(lists).filter_map(|((api, field), list)| Some((api, field, list.as_deref()?)))
    }
}

/// A provider that an image brings along.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExternalProvider {
    /// The provider's id. Wins over a provider of the same id in `providers`.
    #[schemars(length(min = 1, max = 63))]
    pub provider_id: String,
    /// The image that holds the provider's code.
    #[schemars(length(min = 1, max = 1024))]
    pub image: String,
    /// When the image is pulled. Left out, Kubernetes decides by the tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image_pull_policy: Option<ImagePullPolicy>,
    /// Settings of the provider, passed on to it as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "free_object")]
    pub config: Option<Map<String, Value>>,
}

/// When a node pulls an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub enum ImagePullPolicy {
    /// Before every start of a pod, even if the node has it.
    Always,
    /// Never: the node must have it.
    Never,
    /// When the node does not have it.
    IfNotPresent,
}

fn free_object(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({"type": "object", "x-kubernetes-preserve-unknown-fields": true})
}

fn explicit_ids() -> Value {
    rule(
        "self.size() <= 1 || self.all(p, has(p.id))",
        "each provider must have an explicit id when multiple providers are specified",
    )
}

/// Ids over all lists of `providers`, implicit ones included.
pub(in crate::api) fn unique_ids() -> Value {
    let ids = PROVIDER_FIELDS
        .iter()
        .map(|(_, field)| {
            format!(
                "(has(self.{field}) ? self.{field}.map(p, has(p.id) ? p.id : p.provider.contains('::') ? \
                 p.provider.substring(p.provider.lastIndexOf('::') + 2) : p.provider) : [])"
            )
        })
        .collect::<Vec<_>>()
        .join(" + ");
    distinct(&ids, "duplicate provider id", "provider ids must be unique across all lists")
}

pub(in crate::api) fn unique_external_ids() -> Value {
    let ids = EXTERNAL_FIELDS
        .iter()
        .map(|(_, field)| format!("(has(self.{field}) ? self.{field}.map(p, p.providerId) : [])"))
        .collect::<Vec<_>>()
        .join(" + ");
    distinct(&ids, "duplicate external provider id", "external provider ids must be unique across all lists")
}

/// A rule that the list `ids` has no value twice; its message names the first value that it has twice.
fn distinct(ids: &str, what: &str, message: &str) -> Value {
    // In the rule, a comprehension over a list of one list names the ids, so that they are computed once. The message
    // cannot do so: the server's cost estimate loses the size of what such a comprehension returns.
    json!({
        "rule": format!("[{ids}].all(ids, ids.all(id, ids.exists_one(other, other == id)))"),
        "message": message,
        "messageExpression": format!(
            "'{what} \"' + ({ids}).filter(id, !({ids}).exists_one(other, other == id))[0] + '\"'"
        ),
    })
}
