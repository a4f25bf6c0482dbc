//! The Deployment: pod, container, and what makes pods restart.

mod annotations;
mod compute;
mod env;
mod scheduling;
mod security;
mod start;
mod volumes;

pub(super) use security::{init_user, needs_old_binding};
pub use start::SCRIPT;
pub(super) use start::is_known as is_known_script;

use super::external::{Additions, additions};
use super::metadata::{child, labels, selector};
use super::ogx::METRICS_PORT;
use super::service::has_tls;
use super::{Child, Desired, Kind, account, scaling};
use serde_json::{Map, Value, json};

pub(super) fn build(desired: &Desired<'_>, port: u16) -> Child {
    let mut spec = Map::new();
    if !scaling::is_automatic(desired) {
        spec.insert("replicas".to_owned(), json!(scaling::replicas(desired)));
    }
    spec.insert("selector".to_owned(), json!({"matchLabels": selector(desired.owner)}));
    if desired.spec.workload.as_ref().is_some_and(|workload| workload.storage.is_some()) {
        // The volume can be used by one node at a time: the old pod must go before the new one starts.
        spec.insert("strategy".to_owned(), json!({"type": "Recreate"}));
    }
    spec.insert("template".to_owned(), template(desired, port));

    let mut child = child(Kind::Deployment, desired.owner, labels(desired.owner, []), json!({ "spec": spec }));
    let own = annotations::of_deployment(desired);
    if !own.is_empty() {
        child.object["metadata"]["annotations"] = Value::Object(own);
    }
    child
}

fn template(desired: &Desired<'_>, port: u16) -> Value {
    let mut metadata = Map::from_iter([("labels".to_owned(), selector(desired.owner))]);
    let marks = annotations::of_template(desired);
    if !marks.is_empty() {
        metadata.insert("annotations".to_owned(), Value::Object(marks));
    }
    json!({"metadata": metadata, "spec": pod(desired, port)})
}

fn pod(desired: &Desired<'_>, port: u16) -> Map<String, Value> {
    let workload = desired.spec.workload.as_ref();
    let overrides = workload.and_then(|workload| workload.overrides.as_ref());
    let added = additions(desired);
    let mut pod = Map::new();
    pod.insert("serviceAccountName".to_owned(), json!(account::name(desired)));
    security::add_to_pod(desired, &mut pod);
    if let Some(seconds) = overrides.and_then(|overrides| overrides.termination_grace_period_seconds) {
        pod.insert("terminationGracePeriodSeconds".to_owned(), json!(seconds));
    }
    scheduling::add(desired, &mut pod);
    if !added.init_containers.is_empty() {
        pod.insert("initContainers".to_owned(), json!(added.init_containers));
    }
    pod.insert("containers".to_owned(), json!([container(desired, port, &added)]));
    if let Some(claims) = desired.ogx.and_then(|ogx| ogx.resource_claims.as_ref()) {
        pod.insert("resourceClaims".to_owned(), claims.clone());
    }
    pod.insert("volumes".to_owned(), json!(volumes::volumes(desired, &added)));
    pod
}

fn container(desired: &Desired<'_>, port: u16, added: &Additions) -> Map<String, Value> {
    let mut container = Map::new();
    let name = desired.v1alpha1_only.container_name.as_deref().unwrap_or(desired.owner.served.container);
    container.insert("name".to_owned(), json!(name));
    container.insert("image".to_owned(), json!(desired.image));
    let start = start::of(desired);
    if let Some(command) = &start.command {
        container.insert("command".to_owned(), json!(command));
    }
    if let Some(args) = start::args(desired) {
        container.insert("args".to_owned(), json!(args));
    }
    container.insert("env".to_owned(), json!(env::variables(desired, port, &start, added)));
    let mut ports = vec![json!({"containerPort": port, "protocol": "TCP"})];
    if let Some(metrics) = desired.ogx.and_then(|ogx| ogx.metrics_port) {
        ports.push(json!({"name": METRICS_PORT, "containerPort": metrics, "protocol": "TCP"}));
    }
    container.insert("ports".to_owned(), json!(ports));
    container.insert("resources".to_owned(), compute::resources(desired));
    container.insert("startupProbe".to_owned(), startup_probe(desired, port));
    security::add_to_container(desired, &mut container);
    container.insert("volumeMounts".to_owned(), json!(volumes::mounts(desired, added)));
    container
}

/// The only probe: loading a model may take long, and a busy server may answer late.
fn startup_probe(desired: &Desired<'_>, port: u16) -> Value {
    let mut request = json!({"path": "/v1/health", "port": port});
    if has_tls(desired.spec) {
        request["scheme"] = json!("HTTPS");
    }
    json!({
        "httpGet": request,
        "initialDelaySeconds": 15,
        "timeoutSeconds": 30,
        "failureThreshold": 3,
        "successThreshold": 1,
    })
}
