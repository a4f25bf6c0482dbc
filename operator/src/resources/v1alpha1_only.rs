//! What v1alpha2 cannot hold of a resource that was written as v1alpha1.

use crate::served::LLAMA_STACK;
use llsd_generator::api::{ApiVersion, v1alpha1};
use llsd_generator::convert::{kept_for, to_v1alpha1};
use serde::Deserialize;
use serde_json::Value;

/// v1alpha1 values that have no place in v1alpha2, or that its limits forbid, as far as children depend on them. Read
/// from the v1alpha1 view of the resource, so that an edit through v1alpha2 counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct V1Alpha1Only {
    /// `containerSpec.name`, if it is not the default.
    pub container_name: Option<String>,
    /// `containerSpec.port` where v1alpha2 allows no such port.
    pub port: Option<i64>,
    /// `userConfig.configMapNamespace`, if it is not empty.
    pub config_namespace: Option<String>,
    /// `podDisruptionBudget` with both bounds or none.
    pub disruption_budget: Option<v1alpha1::PodDisruptionBudget>,
    /// `autoscaling` with bounds that v1alpha2 forbids.
    pub autoscaling: Option<v1alpha1::Autoscaling>,
    /// `tlsConfig.caBundle` with keys that v1alpha2 forbids.
    pub ca_bundle: Option<v1alpha1::CaBundle>,
    /// `allowedFrom.labels` with entries that v1alpha2 forbids.
    pub allowed_labels: Option<Vec<String>>,
    /// Whether `network` is there, even if empty.
    pub network: bool,
}

impl V1Alpha1Only {
    /// The leftovers of a v1alpha2 object: all of them empty if it carries no annotation of v1alpha1 fields.
    #[must_use]
    pub fn of(object: &Value) -> Self {
        if kept_for(object, ApiVersion::V1Alpha1).is_empty() {
            return Self::default();
        }
        let Ok(older) = to_v1alpha1(object) else { return Self::default() };
        let server = &older["spec"]["server"];
        let newer = &object["spec"];
        let container = &server["containerSpec"];
        let port = container["port"].as_i64().filter(|port| *port != 0);
        Self {
            container_name: container["name"]
                .as_str()
                .filter(|name| !name.is_empty() && *name != LLAMA_STACK.container)
                .map(str::to_owned),
            port: port.filter(|port| newer["networking"]["port"].as_i64() != Some(*port)),
            config_namespace: server["userConfig"]["configMapNamespace"]
                .as_str()
                .filter(|namespace| !namespace.is_empty())
                .map(str::to_owned),
            disruption_budget: unfit(&server["podDisruptionBudget"], &newer["workload"]["podDisruptionBudget"]),
            autoscaling: unfit(&server["autoscaling"], &newer["workload"]["autoscaling"]),
            ca_bundle: unfit(&server["tlsConfig"]["caBundle"], &newer["networking"]["tls"]["caBundle"]),
            allowed_labels: unfit(
                &older["spec"]["network"]["allowedFrom"]["labels"],
                &newer["networking"]["allowedFrom"]["labels"],
            ),
            network: older["spec"]["network"].is_object(),
        }
    }
}

/// The older value, where the newer version holds another.
fn unfit<T: for<'de> Deserialize<'de>>(older: &Value, newer: &Value) -> Option<T> {
    if older.is_null() || older == newer { None } else { T::deserialize(older).ok() }
}
