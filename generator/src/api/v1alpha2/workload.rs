//! `spec.workload`: replicas, resources, scaling, and what is overridden in the pod.

use super::{DEFAULT_MOUNT_PATH, rule};
use crate::api::core;
use crate::names::SUBDOMAIN_PATTERN;
use k8s_openapi::api::core::v1::{
    EnvVar, PodSecurityContext, ResourceRequirements, SecurityContext, TopologySpreadConstraint, Volume, VolumeMount,
};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the server runs: how many pods, with what, and where.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Workload {
    /// Number of server pods. With `autoscaling`, the least number unless `minReplicas` is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0), extend("default" = 1))]
    pub replicas: Option<i32>,
    /// Worker processes in each pod. Unless `resources` says otherwise, each asks for one CPU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub workers: Option<i32>,
    /// CPU, memory and devices of the server container.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "core::lenient")]
    #[schemars(schema_with = "core::resources")]
    pub resources: Option<ResourceRequirements>,
    /// Lets the number of pods follow the load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub autoscaling: Option<Autoscaling>,
    /// A volume that outlives the pods. `{}` asks for one of the default size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage: Option<WorkloadStorage>,
    /// How many pods must stay, or may go, when nodes are drained.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pod_disruption_budget: Option<PodDisruptionBudget>,
    /// How pods spread over nodes and zones. Replaces the operator's own choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "core::bounded_spread")]
    pub topology_spread_constraints: Option<Vec<TopologySpreadConstraint>>,
    /// Changes to the pod and its container.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overrides: Option<Overrides>,
}

/// Bounds and targets of scaling.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    serde_json::json!({
        "rule": "!has(self.minReplicas) || self.maxReplicas >= self.minReplicas",
        "message": "maxReplicas must be greater than or equal to minReplicas",
        "fieldPath": ".maxReplicas",
    }),
]))]
pub struct Autoscaling {
    /// The least number of pods. Left out, `workload.replicas`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub min_replicas: Option<i32>,
    /// The greatest number of pods.
    #[schemars(range(min = 1))]
    pub max_replicas: i32,
    /// Average CPU use to aim for, in percent of the request. 80 if neither target is set.
    #[serde(rename = "targetCPUUtilizationPercentage", default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100))]
    pub target_cpu_utilization_percentage: Option<i32>,
    /// Average memory use to aim for, in percent of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100))]
    pub target_memory_utilization_percentage: Option<i32>,
}

/// A volume for the server's files.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkloadStorage {
    /// Size of the volume. Left out, `10Gi`.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "core::lenient_quantity")]
    #[schemars(schema_with = "core::quantity")]
    pub size: Option<Quantity>,
    /// Where the volume is mounted; also the home of downloaded models.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 4096), extend("default" = DEFAULT_MOUNT_PATH))]
    pub mount_path: Option<String>,
}

/// How many pods must stay, or may go: exactly one of the two.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    rule(
        "!(has(self.minAvailable) && has(self.maxUnavailable))",
        "only one of minAvailable or maxUnavailable can be specified",
    ),
    rule(
        "has(self.minAvailable) || has(self.maxUnavailable)",
        "one of minAvailable or maxUnavailable must be specified",
    ),
]))]
pub struct PodDisruptionBudget {
    /// Pods that must stay: a number, or a percentage such as `50%`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "core::int_or_string")]
    pub min_available: Option<IntOrString>,
    /// Pods that may go: a number, or a percentage such as `50%`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "core::int_or_string")]
    pub max_unavailable: Option<IntOrString>,
}

/// Changes to the pod and its container.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Overrides {
    /// A service account to run as, instead of the operator's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253), regex(pattern = SUBDOMAIN_PATTERN))]
    pub service_account_name: Option<String>,
    /// Seconds that the server gets to end by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub termination_grace_period_seconds: Option<i64>,
    /// Replaces the security context of the pod. The operator's own keeps to the Pod Security Standard `restricted`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "core::pod_security_context")]
    pub pod_security_context: Option<PodSecurityContext>,
    /// Replaces the security context of the server container.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "core::security_context")]
    pub security_context: Option<SecurityContext>,
    /// Whether the pod gets a token of its service account for the API server. Left out, it gets none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub automount_service_account_token: Option<bool>,
    /// Environment variables of the server, after the operator's own.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "core::lenient")]
    #[schemars(schema_with = "core::bounded_env")]
    pub env: Option<Vec<EnvVar>>,
    /// Replaces the command of the image. The operator's own start script does not run then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 256))]
    pub command: Option<Vec<String>>,
    /// Replaces the arguments of the container's command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 256))]
    pub args: Option<Vec<String>>,
    /// Volumes to add to the pod.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "core::lenient")]
    #[schemars(schema_with = "core::bounded_volumes")]
    pub volumes: Option<Vec<Volume>>,
    /// Volumes to mount into the server container.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "core::bounded_volume_mounts")]
    pub volume_mounts: Option<Vec<VolumeMount>>,
}
