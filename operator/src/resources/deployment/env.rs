//! The environment of the server.

use super::super::ca_bundle::{BUNDLE_KEY, MOUNT_PATH};
use super::super::external::Additions;
use super::super::{Config, Desired};
use super::start::{Start, has_port_argument};
use super::volumes::{CONFIG_PATH, mount_path};
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

fn operators(desired: &Desired<'_>, port: u16, start: &Start, added: &Additions) -> Vec<Value> {
    let workers = desired.spec.workload.as_ref().and_then(|workload| workload.workers).unwrap_or(1);
    let config = added.config_path.as_deref().unwrap_or(CONFIG_PATH);
    let value = |name: &str, value: &str| json!({"name": name, "value": value});
    let mut variables = vec![value("HF_HOME", mount_path(desired))];
    if desired.ca_bundle.is_some() {
        variables.push(value("SSL_CERT_FILE", &format!("{MOUNT_PATH}/{BUNDLE_KEY}")));
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
