//! `llamastack.io/v1alpha2`: the storage version. Providers, models and state are declared; the llama-stack
//! configuration is made from them.
//!
//! The doc comments of fields become the descriptions of the schema, which users read in hovers and in
//! `kubectl explain`.

mod networking;
pub(super) mod providers;
mod resources;
mod storage;
mod workload;

pub use networking::{AllowedFrom, CaBundle, Expose, Networking, Tls};
pub use providers::{
    ExternalProvider, ExternalProviders, ImagePullPolicy, PROVIDER_FIELDS, Provider, Providers, SecretKeyRef,
    SecretKeySelector, implied_id, provider_field,
};
pub use resources::{Model, Resources};
pub use storage::{KvStorage, KvType, SqlStorage, SqlType, Storage};
pub use workload::{Autoscaling, Overrides, PodDisruptionBudget, Workload, WorkloadStorage};

use super::status::Status;
use crate::names::SUBDOMAIN_PATTERN;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The port of the server where `networking.port` is not set.
pub const DEFAULT_PORT: u16 = 8321;
/// Where the storage volume is mounted unless `workload.storage.mountPath` says otherwise.
pub const DEFAULT_MOUNT_PATH: &str = "/.llama";

/// What a `LlamaStackDistribution` should be.
#[allow(clippy::duplicated_attributes, reason = "columns of one type")]
#[derive(CustomResource, Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "llamastack.io",
    version = "v1alpha2",
    kind = "LlamaStackDistribution",
    plural = "llamastackdistributions",
    singular = "llamastackdistribution",
    shortname = "llsd",
    category = "llamastack",
    namespaced,
    status = "Status",
    derive = "PartialEq",
    doc = "A llama-stack server: its distribution, providers, resources, state, network and workload.",
    printcolumn(name = "Phase", type_ = "string", json_path = ".status.phase"),
    printcolumn(
        name = "Distribution",
        type_ = "string",
        json_path = ".status.resolvedDistribution.image",
        priority = 1
    ),
    printcolumn(name = "Config", type_ = "string", json_path = ".status.configGeneration.configMapName", priority = 1),
    printcolumn(name = "Providers", type_ = "integer", json_path = ".status.configGeneration.providerCount"),
    printcolumn(name = "Available", type_ = "integer", json_path = ".status.availableReplicas"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = spec_rules()))]
pub struct LlamaStackDistributionSpec {
    /// The server image: a known distribution by `name`, or any `image`. Exactly one of the two.
    pub distribution: Distribution,
    /// The providers to configure, one list per API. They are laid over those of the distribution: the same id
    /// replaces, a new id is added, the others stay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub providers: Option<Providers>,
    /// Models, tool groups and shields to register when the server starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<Resources>,
    /// Where the server keeps its state. Left out, the distribution's own choice stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage: Option<Storage>,
    /// APIs to switch off, as llama-stack spells them (`vector_io`, `post_training`). Their providers and everything
    /// registered for them go too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "api_list")]
    pub disabled: Option<Vec<String>>,
    /// Port, TLS, exposure outside the cluster, and who may connect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub networking: Option<Networking>,
    /// How the server runs: replicas, resources, scaling, volumes, and changes to its pod.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload: Option<Workload>,
    /// Providers that come as images of their own and are added to the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_providers: Option<ExternalProviders>,
    /// A complete llama-stack configuration of your own, used as it is. Excludes `providers`, `resources`, `storage`
    /// and `disabled`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub override_config: Option<OverrideConfig>,
}

impl LlamaStackDistributionSpec {
    /// The server's port: `networking.port`, or [`DEFAULT_PORT`].
    #[must_use]
    pub fn port(&self) -> u16 {
        self.networking.as_ref().and_then(|networking| networking.port).unwrap_or(DEFAULT_PORT)
    }

    /// Whether a configuration is generated: anything of `providers`, `resources`, `storage` or `disabled` is given,
    /// and no `overrideConfig`. TLS asks for one as well, where the distribution's name brings a config to start from:
    /// that of the image does not speak HTTPS, which the probes ask for.
    #[must_use]
    pub fn generates(&self) -> bool {
        self.override_config.is_none()
            && (self.providers.is_some()
                || self.resources.is_some()
                || self.storage.is_some()
                || self.disabled.is_some()
                || (self.speaks_tls() && self.distribution.name.is_some()))
    }

    /// Whether the server is to speak HTTPS.
    #[must_use]
    pub fn speaks_tls(&self) -> bool {
        let tls = self.networking.as_ref().and_then(|networking| networking.tls.as_ref());
        tls.is_some_and(|tls| tls.enabled == Some(true))
    }
}

/// The image that runs: exactly one of `name` and `image`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    rule("!(has(self.name) && has(self.image))", "only one of name or image can be specified"),
    rule("has(self.name) || has(self.image)", "one of name or image must be specified"),
]))]
pub struct Distribution {
    /// A distribution that the operator knows, such as `starter`. It brings the image and a base configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub name: Option<String>,
    /// An image reference, such as `quay.io/example/llama-stack:0.4.7`. To configure providers, the image must carry
    /// its configuration in OCI labels, or `overrideConfig` must be set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1024))]
    pub image: Option<String>,
}

/// A ConfigMap that holds a complete llama-stack configuration.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OverrideConfig {
    /// Name of a ConfigMap in the same namespace. Its key `config.yaml` holds the configuration.
    #[schemars(length(min = 1, max = 253), regex(pattern = SUBDOMAIN_PATTERN))]
    pub config_map_name: String,
}

/// The greatest length of a resource's name: children add suffixes of up to 15 characters to it, and the whole must be
/// a DNS label.
pub const MAX_NAME: usize = 48;

/// Rules on the resource's name. They apply when a resource is created: one that exists under an older operator must
/// stay changeable.
pub(super) fn name_rules() -> Value {
    json!([
        {
            "rule": format!("oldSelf.hasValue() || self.metadata.name.size() <= {MAX_NAME}"),
            "message": format!(
                "metadata.name must be at most {MAX_NAME} characters long, because names derived from it get suffixes \
                 of up to 15 characters"
            ),
            "fieldPath": ".metadata.name",
            "optionalOldSelf": true,
        },
        {
            "rule": "oldSelf.hasValue() || !self.metadata.name.contains('.')",
            "message": "metadata.name must not contain dots, because the Service and the pods are named after it",
            "fieldPath": ".metadata.name",
            "optionalOldSelf": true,
        },
    ])
}

/// Makes an entry of `x-kubernetes-validations` from a CEL expression and the message for when it is false.
pub(super) fn rule(rule: &str, message: &str) -> Value {
    json!({"rule": rule, "message": message})
}

/// API names that `disabled` takes: those of every supported llama-stack version, as llama-stack spells them.
pub const API_NAMES: [&str; 14] = [
    "agents",
    "batches",
    "datasetio",
    "eval",
    "file_processors",
    "files",
    "inference",
    "post_training",
    "responses",
    "safety",
    "scoring",
    "telemetry",
    "tool_runtime",
    "vector_io",
];

/// The API that an entry of `disabled` means: camelCase (`vectorIo`) is read as llama-stack's `vector_io`.
/// Names that no version knows come back in the same spelling rule, unchecked.
#[must_use]
pub fn api_name(written: &str) -> String {
    let mut name = String::with_capacity(written.len() + 1);
    for letter in written.chars() {
        if letter.is_ascii_uppercase() {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}

/// The camelCase spelling of an API name: `vectorIo` for `vector_io`.
#[must_use]
pub fn api_field(name: &str) -> String {
    let mut field = String::with_capacity(name.len());
    let mut raise = false;
    for letter in name.chars() {
        if letter == '_' {
            raise = true;
        } else if raise {
            field.push(letter.to_ascii_uppercase());
            raise = false;
        } else {
            field.push(letter);
        }
    }
    field
}

/// Every accepted spelling: llama-stack's names first, then the camelCase ones that differ.
fn api_names() -> Vec<String> {
    let camel = API_NAMES.iter().map(|name| api_field(name)).filter(|field| !API_NAMES.contains(&field.as_str()));
    API_NAMES.iter().map(|name| (*name).to_owned()).chain(camel).collect()
}

fn api_list(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "type": "array",
        "minItems": 1,
        "maxItems": 32,
        "items": {"type": "string", "enum": api_names()},
    })
}

/// The rules between fields of `spec`.
fn spec_rules() -> Value {
    let mut rules: Vec<Value> = ["providers", "resources", "storage", "disabled"]
        .iter()
        .map(|field| {
            rule(
                &format!("!(has(self.{field}) && has(self.overrideConfig))"),
                &format!("{field} and overrideConfig are mutually exclusive"),
            )
        })
        .collect();
    for (api, field) in PROVIDER_FIELDS {
        let spellings = if api == field { vec![api] } else { vec![api, field] };
        for written in spellings {
            rules.push(json!({
                "rule": format!(
                    "!(has(self.disabled) && has(self.providers) && has(self.providers.{field}) && \
                     '{written}' in self.disabled)"
                ),
                "message": disabled_conflict(field, api, written),
                "fieldPath": format!(".providers.{field}"),
            }));
        }
    }
    Value::Array(rules)
}

/// The message for an API that is both given providers and disabled; `written` is its spelling in `disabled`.
fn disabled_conflict(field: &str, api: &str, written: &str) -> String {
    format!(
        "spec.providers.{field} conflicts with spec.disabled: {api} API is disabled but has providers configured. \
         Remove the provider configuration or remove '{written}' from the disabled list."
    )
}
