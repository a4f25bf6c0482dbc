//! `status`: what the operator reports. v1alpha1 has all of it but the four last fields.

use super::core;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// The state of a server, as the operator last saw it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// One word for the whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// Versions of operator and server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<Version>,
    /// What the server says about itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distribution_config: Option<DistributionConfig>,
    /// The state in detail: one condition for each thing that has to work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "core::condition")]
    pub conditions: Option<Vec<Condition>>,
    /// Number of server pods that are ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub available_replicas: Option<i32>,
    /// Address of the server inside the cluster.
    #[serde(rename = "serviceURL", default, skip_serializing_if = "Option::is_none")]
    pub service_url: Option<String>,
    /// Address outside the cluster: absent when not exposed, empty while it is not known yet.
    #[serde(rename = "routeURL", default, skip_serializing_if = "Option::is_none")]
    pub route_url: Option<String>,
    /// The generation of the resource that this speaks of: while it is smaller than `metadata.generation`, the last change
    /// has not been looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// The image that runs, and where its base configuration came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved_distribution: Option<ResolvedDistribution>,
    /// The generated configuration in use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_generation: Option<ConfigGeneration>,
    /// The providers that come as images, in the order of their installation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["providerId"]))]
    pub external_providers: Option<Vec<ExternalProviderStatus>>,
}

/// One word for the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub enum Phase {
    /// There is no Deployment yet.
    Pending,
    /// The server is on its way.
    Initializing,
    /// All pods that are wanted are ready, and none is of an older revision.
    Ready,
    /// Something needs attention; the conditions say what.
    Failed,
    /// The resource is being deleted.
    Terminating,
}

/// Versions of operator and server.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Version {
    /// Version of the operator that wrote this status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operator_version: Option<String>,
    /// The server's version, by its own word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub llama_stack_server_version: Option<String>,
    /// When this was last written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_updated: Option<Time>,
}

/// What the server says about itself.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DistributionConfig {
    /// Name of the distribution, or `custom` for an image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_distribution: Option<String>,
    /// The providers of all APIs, as the server lists them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub providers: Option<Vec<ProviderInfo>>,
    /// Known distributions and their images.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub available_distributions: Option<BTreeMap<String, String>>,
}

/// A provider of the running server, spelled as llama-stack spells it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct ProviderInfo {
    /// The API that it serves.
    pub api: String,
    /// The provider's id, `provider_id` in the server's configuration.
    pub provider_id: String,
    /// The provider's type, such as `remote::vllm`.
    pub provider_type: String,
    /// Its settings as the server shows them.
    #[schemars(schema_with = "anything")]
    pub config: Value,
    /// What the server last found out about the provider.
    pub health: ProviderHealth,
}

/// Whether a provider works, by the word of the server.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct ProviderHealth {
    /// One word, such as `OK`.
    pub status: String,
    /// More, where the status is not good.
    pub message: String,
}

/// The image that the server runs, and the base configuration that goes with it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResolvedDistribution {
    /// The image reference in use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// Where the base configuration came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_source: Option<ConfigSource>,
    /// Hash of the base configuration: `sha256:` and 64 hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_hash: Option<String>,
}

/// Where a base configuration came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ConfigSource {
    /// The operator brought it along.
    Embedded,
    /// It is in a label of the image.
    OciLabel,
}

/// The generated configuration in use.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConfigGeneration {
    /// The ConfigMap that holds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_map_name: Option<String>,
    /// When the operator wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generated_at: Option<Time>,
    /// Providers in it, over all APIs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_count: Option<i32>,
    /// Registered models, tool groups and shields in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_count: Option<i32>,
    /// Version of the configuration's format.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_version: Option<i32>,
}

/// How far a provider that comes as an image has got.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExternalProviderStatus {
    /// The provider's id, as `spec.externalProviders` has it.
    pub provider_id: String,
    /// The API that it serves, as llama-stack spells it.
    pub api: String,
    /// The image that it comes from.
    pub image: String,
    /// One word for how far it has got.
    pub phase: ExternalProviderPhase,
    /// What to do where it has failed, or what it waits for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// One word for how far a provider has got.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema)]
pub enum ExternalProviderPhase {
    /// It is installed in every pod of the present revision.
    Ready,
    /// In some pod its installation has not begun.
    Pending,
    /// In some pod it is being installed, or waits to be merged into the configuration.
    Installing,
    /// It needs attention; the message says what.
    Failed,
}

fn anything(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({"x-kubernetes-preserve-unknown-fields": true})
}
