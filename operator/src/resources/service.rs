//! The Service, and the address that it gives the server.

use super::metadata::{child, labels, selector};
use super::ogx::METRICS_PORT;
use super::{BuildError, Child, Desired, Kind, Owner, V1Alpha1Only};
use llsd_generator::api::v1alpha2::LlamaStackDistributionSpec;
use serde_json::json;

/// The port of the server, the Service and all that leads to them.
///
/// # Errors
/// v1alpha1 lets any number through.
pub fn port(spec: &LlamaStackDistributionSpec, v1alpha1_only: &V1Alpha1Only) -> Result<u16, BuildError> {
    match v1alpha1_only.port {
        None => Ok(spec.port()),
        Some(port) => u16::try_from(port).ok().filter(|port| *port > 0).ok_or(BuildError::Port(port)),
    }
}

/// Whether the server speaks HTTPS.
#[must_use]
pub fn has_tls(spec: &LlamaStackDistributionSpec) -> bool {
    spec.networking.as_ref().and_then(|networking| networking.tls.as_ref()).is_some_and(|tls| tls.enabled == Some(true))
}

/// The address of the server inside the cluster.
#[must_use]
pub fn url(owner: &Owner, spec: &LlamaStackDistributionSpec, port: u16) -> String {
    let scheme = if has_tls(spec) { "https" } else { "http" };
    format!("{scheme}://{}.{}.svc.cluster.local:{port}", Kind::Service.name(&owner.name), owner.namespace)
}

pub(super) fn build(desired: &Desired<'_>, port: u16) -> Child {
    let mut ports = vec![json!({"name": "http", "protocol": "TCP", "port": port, "targetPort": port})];
    if let Some(port) = desired.ogx.and_then(|ogx| ogx.metrics_port) {
        ports.push(json!({"name": METRICS_PORT, "protocol": "TCP", "port": port, "targetPort": port}));
    }
    let spec = json!({"type": "ClusterIP", "selector": selector(desired.owner), "ports": ports});
    child(Kind::Service, desired.owner, labels(desired.owner, []), json!({ "spec": spec }))
}
