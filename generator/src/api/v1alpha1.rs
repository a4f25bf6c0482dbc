//! `llamastack.io/v1alpha1`, as the Go operator defined it. Its schema must not change: a test compares it with the
//! one that is installed in clusters.

use super::core;
use super::status::Status;
use k8s_openapi::api::core::v1::{EnvVar, ResourceRequirements, TopologySpreadConstraint, Volume, VolumeMount};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// What a `LlamaStackDistribution` should be, in the older version.
#[allow(clippy::duplicated_attributes, reason = "columns of one type")]
#[derive(CustomResource, Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "llamastack.io",
    version = "v1alpha1",
    kind = "LlamaStackDistribution",
    plural = "llamastackdistributions",
    singular = "llamastackdistribution",
    shortname = "llsd",
    namespaced,
    storage = false,
    status = "Status",
    derive = "PartialEq",
    doc = "A llama-stack server, in the older version: an image, its environment and a configuration of one's own.",
    printcolumn(name = "Phase", type_ = "string", json_path = ".status.phase"),
    printcolumn(name = "Operator Version", type_ = "string", json_path = ".status.version.operatorVersion"),
    printcolumn(name = "Server Version", type_ = "string", json_path = ".status.version.llamaStackServerVersion"),
    printcolumn(name = "Available", type_ = "integer", json_path = ".status.availableReplicas"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    selectable = ".spec.server.userConfig.configMapName",
    selectable = ".spec.server.userConfig.configMapNamespace",
    selectable = ".spec.server.tlsConfig.caBundle.configMapName",
    selectable = ".spec.server.tlsConfig.caBundle.configMapNamespace"
)]
#[serde(rename_all = "camelCase")]
pub struct LlamaStackDistributionSpec {
    /// Number of server pods. With `autoscaling`, the least number unless `minReplicas` is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = 1))]
    pub replicas: Option<i32>,
    /// The server: its image, container, storage and configuration.
    pub server: Server,
    /// Exposure outside the cluster, and who may connect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<Network>,
}

/// What the server runs, and how.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Server {
    /// The server image: a known distribution by `name`, or any `image`.
    pub distribution: Distribution,
    /// Port, resources, environment and command of the server container.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container_spec: Option<ContainerSpec>,
    /// Worker processes in each pod.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub workers: Option<i32>,
    /// What is changed in the pod around the server container.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pod_overrides: Option<PodOverrides>,
    /// How many pods must stay, or may go, when nodes are drained.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pod_disruption_budget: Option<PodDisruptionBudget>,
    /// How pods spread over nodes and zones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "core::spread")]
    pub topology_spread_constraints: Option<Vec<TopologySpreadConstraint>>,
    /// Lets the number of pods follow the load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub autoscaling: Option<Autoscaling>,
    /// A volume that outlives the pods.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage: Option<Storage>,
    /// A ConfigMap with a complete llama-stack configuration in its key `config.yaml`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_config: Option<UserConfig>,
    /// Certificate authorities that the server trusts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls_config: Option<TlsConfig>,
}

/// The image that runs: a known distribution, or any image.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [{
    "rule": "!(has(self.name) && has(self.image))",
    "message": "Only one of name or image can be specified",
}]))]
pub struct Distribution {
    /// A distribution that the operator knows, such as `starter`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Any image, by its reference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
}

/// What the server container gets.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContainerSpec {
    /// The container's name in the pod.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "llama-stack"))]
    pub name: Option<String>,
    /// Port of the server. 0 and nothing mean 8321.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<i32>,
    /// CPU, memory and devices that the container asks for.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "core::lenient")]
    #[schemars(schema_with = "core::resources")]
    pub resources: Option<ResourceRequirements>,
    /// Environment variables, after the operator's own.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "core::lenient")]
    #[schemars(schema_with = "core::env")]
    pub env: Option<Vec<EnvVar>>,
    /// Replaces the command of the image. The operator's own start script does not run then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<Vec<String>>,
    /// Replaces the arguments of the container's command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Vec<String>>,
}

/// Settings of the pod around the server container.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PodOverrides {
    /// A service account to run as.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_account_name: Option<String>,
    /// Seconds that the server gets to end by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub termination_grace_period_seconds: Option<i64>,
    /// Volumes to add to the pod, for `volumeMounts`.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "core::lenient")]
    #[schemars(schema_with = "core::volumes")]
    pub volumes: Option<Vec<Volume>>,
    /// Volumes to mount into the server container.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "core::volume_mounts")]
    pub volume_mounts: Option<Vec<VolumeMount>>,
}

/// How many pods must stay, or may go.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PodDisruptionBudget {
    /// Pods that must stay: a number or a percentage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "core::int_or_string")]
    pub min_available: Option<IntOrString>,
    /// Pods that may go: a number or a percentage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "core::int_or_string")]
    pub max_unavailable: Option<IntOrString>,
}

/// Bounds and targets of scaling.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Autoscaling {
    /// The least number of pods.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_replicas: Option<i32>,
    /// The greatest number of pods.
    pub max_replicas: i32,
    /// Average CPU use to aim for, in percent of the request.
    #[serde(rename = "targetCPUUtilizationPercentage", default, skip_serializing_if = "Option::is_none")]
    pub target_cpu_utilization_percentage: Option<i32>,
    /// Average memory use to aim for, in percent of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_memory_utilization_percentage: Option<i32>,
}

/// A volume for the server's files.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Storage {
    /// Size of the volume. Left out, `10Gi`.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "core::lenient_quantity")]
    #[schemars(schema_with = "core::quantity")]
    pub size: Option<Quantity>,
    /// Where the volume is mounted. Left out, `/.llama`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mount_path: Option<String>,
}

/// A ConfigMap with a complete llama-stack configuration.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UserConfig {
    /// Name of the ConfigMap that holds the configuration.
    pub config_map_name: String,
    /// Namespace of the ConfigMap. Only the resource's own namespace works: the pod mounts it from there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_map_namespace: Option<String>,
}

/// TLS settings for connections that the server opens.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TlsConfig {
    /// Certificate authorities in a ConfigMap.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca_bundle: Option<CaBundle>,
}

/// Certificate authorities in a ConfigMap.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CaBundle {
    /// Name of the ConfigMap that holds PEM certificates.
    pub config_map_name: String,
    /// Namespace of the ConfigMap. Left out, the resource's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_map_namespace: Option<String>,
    /// Keys to use. Left out, `ca-bundle.crt`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 50))]
    pub config_map_keys: Option<Vec<String>>,
}

/// Exposure outside the cluster, and who may connect.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Network {
    /// Makes the server reachable from outside the cluster by an Ingress.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = json!(false)))]
    pub expose_route: Option<bool>,
    /// Who may connect, beside the resource's own namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed_from: Option<AllowedFrom>,
}

/// Namespaces whose pods may connect to the server.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AllowedFrom {
    /// Namespaces by name; `*` means all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespaces: Option<Vec<String>>,
    /// Namespaces by label: each entry is a label key, and a namespace that has it may connect, whatever its value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<Vec<String>>,
}
