//! What only an `OGXServer` says. The rest of it, the workload above all, means the same as the fields of the same names
//! of a `LlamaStackDistribution`, and is read into the same types.

use super::metadata::{child, labels, selector};
use super::{Child, Desired, Kind};
use llsd_generator::api::v1alpha2::{
    DEFAULT_PORT, Distribution, Expose, LlamaStackDistributionSpec, Networking, OverrideConfig,
};
use serde::Deserialize as _;
use serde_json::{Map, Value, json};

/// The port of the metrics where the resource names none.
const DEFAULT_METRICS_PORT: u16 = 9464;
/// The name of that port in Services and pods.
pub(super) const METRICS_PORT: &str = "metrics";
/// The label by which OpenShift marks namespaces with routers or with monitoring.
const POLICY_GROUP: &str = "network.openshift.io/policy-group";

/// What an `OGXServer` says that a `LlamaStackDistribution` cannot, as far as children depend on it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OgxOnly {
    /// The key of the user's ConfigMap that holds the config; [`CONFIG_KEY`](llsd_generator::api::CONFIG_KEY) if there is
    /// none.
    pub config_key: Option<String>,
    /// The port of the metrics, unless monitoring is off.
    pub metrics_port: Option<u16>,
    /// `registryRefreshIntervalSeconds`.
    pub registry_refresh: Option<i64>,
    /// Whether `network` is there, even if empty.
    pub network: bool,
    /// `network.policy`; null if there is none.
    pub policy: Value,
    /// The volume claim of another resource that was taken over.
    pub claim: Option<String>,
    /// `workload.resourceClaims`, as pods have it.
    pub resource_claims: Option<Value>,
}

impl OgxOnly {
    /// Reads it from a resource that the API server has checked.
    #[must_use]
    pub fn of(object: &Value) -> Self {
        let spec = &object["spec"];
        let monitoring = &spec["monitoring"];
        let metrics_port = || {
            let port = monitoring["metricsPort"].as_u64();
            port.and_then(|port| u16::try_from(port).ok()).unwrap_or(DEFAULT_METRICS_PORT)
        };
        Self {
            config_key: spec["overrideConfig"]["key"].as_str().map(str::to_owned),
            metrics_port: (monitoring["enabled"] != false).then(metrics_port),
            registry_refresh: spec["registryRefreshIntervalSeconds"].as_i64(),
            network: spec["network"].is_object(),
            policy: spec["network"]["policy"].clone(),
            claim: None,
            resource_claims: Some(&spec["workload"]["resourceClaims"]).filter(|claims| claims.is_array()).cloned(),
        }
    }
}

/// The part of an `OGXServer` that both kinds have, in the types of the other one. How its config comes about is not in
/// it: that is for `llsd_generator::ogx` to say.
///
/// # Errors
/// The workload does not have the form that the CRD asks for.
pub fn common(object: &Value) -> Result<LlamaStackDistributionSpec, serde_json::Error> {
    let spec = &object["spec"];
    let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let distribution =
        Distribution { name: text(&spec["distribution"]["name"]), image: text(&spec["distribution"]["image"]) };
    let network = &spec["network"];
    let port = network["port"].as_u64().and_then(|port| u16::try_from(port).ok()).filter(|port| *port > 0);
    // The host is declared and has no effect with ogx-k8s-operator; what is written for it keeps its meaning here.
    let expose =
        (network["externalAccess"]["enabled"] == true).then(|| Expose { enabled: Some(true), ..Expose::default() });
    let networking = Networking { port: Some(port.unwrap_or(DEFAULT_PORT)), expose, ..Networking::default() };
    Ok(LlamaStackDistributionSpec {
        distribution,
        providers: None,
        resources: None,
        storage: None,
        disabled: None,
        networking: Some(networking),
        workload: Option::deserialize(&spec["workload"])?,
        external_providers: None,
        override_config: text(&spec["overrideConfig"]["name"])
            .map(|config_map_name| OverrideConfig { config_map_name }),
    })
}

/// Who may connect: pods of the namespace and the operator, monitoring to the port of the metrics. Rules of the resource
/// take the place of all of these.
pub(super) fn network_policy(desired: &Desired<'_>, ogx: &OgxOnly, port: u16) -> Option<Child> {
    if ogx.policy["enabled"] == false {
        return None;
    }
    let rules = |direction: &str| ogx.policy[direction].as_array().filter(|rules| !rules.is_empty());
    let mut spec = Map::new();
    spec.insert("podSelector".to_owned(), json!({"matchLabels": selector(desired.owner)}));
    match (rules("ingress"), rules("egress")) {
        (Some(ingress), Some(egress)) => {
            spec.insert("policyTypes".to_owned(), json!(["Ingress", "Egress"]));
            spec.insert("ingress".to_owned(), json!(ingress));
            spec.insert("egress".to_owned(), json!(egress));
        }
        (Some(ingress), None) => {
            spec.insert("policyTypes".to_owned(), json!(["Ingress"]));
            spec.insert("ingress".to_owned(), json!(ingress));
        }
        (None, _) => {
            spec.insert("policyTypes".to_owned(), json!(["Ingress"]));
            spec.insert("ingress".to_owned(), json!(default_rules(desired, ogx, port)));
        }
    }
    let labels = labels(desired.owner, []);
    Some(child(Kind::NetworkPolicy, desired.owner, labels, json!({ "spec": spec })))
}

fn default_rules(desired: &Desired<'_>, ogx: &OgxOnly, port: u16) -> Vec<Value> {
    let namespaces = |label: &str, value: &str| json!({"namespaceSelector": {"matchLabels": {label: value}}});
    let ports = |port: u16| json!([{"protocol": "TCP", "port": port}]);
    let mut peers =
        vec![json!({"podSelector": {}}), namespaces("kubernetes.io/metadata.name", desired.operator_namespace)];
    if ogx.network {
        peers.push(namespaces(POLICY_GROUP, "ingress"));
    }
    let mut rules = vec![json!({"from": peers, "ports": ports(port)})];
    if let Some(port) = ogx.metrics_port {
        rules.push(json!({"from": [namespaces(POLICY_GROUP, "monitoring")], "ports": ports(port)}));
    }
    rules
}
