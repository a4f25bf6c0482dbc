//! The environment of the server.

use super::super::ca_bundle::{BUNDLE_KEY, MOUNT_PATH};
use super::super::external::Additions;
use super::super::{Config, Desired, OgxOnly};
use super::start::{Start, has_port_argument};
use super::volumes::mount_path;
use llsd_generator::api::v1alpha2::DEFAULT_PORT;
use serde_json::{Value, json};
use std::collections::HashSet;

/// The operator's variables, then those of secrets by name, then the user's in their order. A name is there once, and
/// the user's value wins: server-side apply refuses lists with one name twice.
pub(super) fn variables(desired: &Desired<'_>, port: u16, start: &Start, added: &Additions) -> Vec<Value> {
    let mut variables = operators(desired, port, start, added);
    variables.extend(added.env.iter().cloned());
    if let Config::Generated { env, .. } = desired.config {
        let mut secrets: Vec<_> = env.iter().collect();
        secrets.sort_by(|one, other| one.name.cmp(&other.name));
        variables.extend(secrets.into_iter().map(|variable| {
            let secret = variable.source.secret();
            json!({"name": variable.name, "valueFrom": {"secretKeyRef": {"name": secret.name, "key": secret.key}}})
        }));
    }
    let workload = desired.spec.workload.as_ref();
    let own = workload.and_then(|workload| workload.overrides.as_ref()?.env.as_deref()).unwrap_or_default();
    variables.extend(own.iter().map(|variable| json!(variable)));

    // From the back: the last one of a name is the one that counts.
    let mut seen = HashSet::new();
    let mut kept: Vec<Value> = variables
        .into_iter()
        .rev()
        .filter(|variable| seen.insert(variable["name"].as_str().unwrap_or_default().to_owned()))
        .collect();
    kept.reverse();
    kept
}

fn value(name: &str, value: &str) -> Value {
    json!({"name": name, "value": value})
}

/// What an ogx server reads. Its image's entry point starts it with `RUN_CONFIG_PATH`.
fn of_ogx(desired: &Desired<'_>, ogx: &OgxOnly, port: u16, workers: i32) -> Vec<Value> {
    let config = desired.owner.served.config_path;
    let mut variables = vec![value("OGX_WORKERS", &workers.to_string()), value("OGX_PORT", &port.to_string())];
    if !matches!(desired.config, Config::Image) {
        variables.extend([value("RUN_CONFIG_PATH", config), value("OGX_CONFIG", config)]);
    }
    if let Some(seconds) = ogx.registry_refresh {
        variables.push(value("OGX_REGISTRY_REFRESH_INTERVAL_SECONDS", &seconds.to_string()));
    }
    if let Some(port) = ogx.metrics_port {
        variables.extend([
            value("OGX_METRICS_ENDPOINT_ENABLED", "1"),
            value("OGX_METRICS_HOST", "0.0.0.0"),
            value("OGX_METRICS_PORT", &port.to_string()),
        ]);
    }
    variables
}

fn operators(desired: &Desired<'_>, port: u16, start: &Start, added: &Additions) -> Vec<Value> {
    let workers = desired.spec.workload.as_ref().and_then(|workload| workload.workers).unwrap_or(1);
    let config = added.config_path.as_deref().unwrap_or(desired.owner.served.config_path);
    let mut variables = vec![value("HF_HOME", mount_path(desired))];
    if desired.ca_bundle.is_some() {
        variables.push(value("SSL_CERT_FILE", &format!("{MOUNT_PATH}/{BUNDLE_KEY}")));
    }
    if let Some(ogx) = desired.ogx {
        variables.extend(of_ogx(desired, ogx, port, workers));
        return variables;
    }
    variables.push(value("LLS_WORKERS", &workers.to_string()));
    variables.push(value("LLS_PORT", &port.to_string()));
    variables.push(value("LLAMA_STACK_CONFIG", config));

    // What llama-stack's own start command reads. It is left out where nothing needs it, because the Go operator did
    // not set it, and an addition restarts the pods of a resource that is taken over.
    let has_config = !matches!(desired.config, Config::Image) || added.config_path.is_some();
    let by_image = start.is_image();
    let needs_port =
        if has_config { by_image } else { port != DEFAULT_PORT && by_image && !has_port_argument(desired) };
    if needs_port {
        variables.push(value("LLAMA_STACK_PORT", &port.to_string()));
    }
    if has_config && by_image {
        variables.push(value("RUN_CONFIG_PATH", config));
    }
    variables
}
