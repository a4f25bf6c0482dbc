//! The network policy: who may connect to the server.

use super::metadata::{child, labels, selector};
use super::{BuildError, Child, Desired, Kind, ogx};
use llsd_generator::names::is_subdomain;
use serde_json::{Value, json};

/// The label of namespaces by which Kubernetes lets them be selected by name.
const NAMESPACE_NAME: &str = "kubernetes.io/metadata.name";

pub(super) fn build(desired: &Desired<'_>, port: u16) -> Result<Option<Child>, BuildError> {
    if let Some(ogx) = desired.ogx {
        return Ok(ogx::network_policy(desired, ogx, port));
    }
    if !desired.flags.network_policy {
        return Ok(None);
    }
    let spec = json!({
        "podSelector": {"matchLabels": selector(desired.owner)},
        "policyTypes": ["Ingress"],
        "ingress": [{"from": peers(desired)?, "ports": [{"protocol": "TCP", "port": port}]}],
    });
    Ok(Some(child(Kind::NetworkPolicy, desired.owner, labels(desired.owner, []), json!({ "spec": spec }))))
}

/// No peer has two selectors: that would ask for pods, and routers on the host's network are none.
fn peers(desired: &Desired<'_>) -> Result<Vec<Value>, BuildError> {
    let networking = desired.spec.networking.as_ref();
    let allowed = networking.and_then(|networking| networking.allowed_from.as_ref());
    let namespaces = allowed.and_then(|allowed| allowed.namespaces.as_deref()).unwrap_or_default();
    let labels = desired
        .v1alpha1_only
        .allowed_labels
        .as_deref()
        .or_else(|| allowed.and_then(|allowed| allowed.labels.as_deref()))
        .unwrap_or_default();
    for label in labels {
        check_label(label)?;
    }
    if namespaces.iter().any(|namespace| namespace == "*") {
        return Ok(vec![json!({"namespaceSelector": {}})]);
    }

    let by_name = |name: &str| json!({"namespaceSelector": {"matchLabels": {NAMESPACE_NAME: name}}});
    let mut peers = vec![json!({"podSelector": {}}), by_name(desired.operator_namespace)];
    peers.extend(namespaces.iter().map(|namespace| by_name(namespace)));
    peers.extend(
        labels
            .iter()
            .map(|label| json!({"namespaceSelector": {"matchExpressions": [{"key": label, "operator": "Exists"}]}})),
    );
    // v1alpha1 asks for the router by having `network` at all; here by what `network` was made of.
    if desired.v1alpha1_only.network
        || networking.is_some_and(|networking| networking.expose.is_some() || networking.allowed_from.is_some())
    {
        peers.push(json!({"namespaceSelector": {"matchLabels": {"network.openshift.io/policy-group": "ingress"}}}));
        peers.extend(desired.flags.router_namespaces.iter().map(|namespace| by_name(namespace)));
    }
    Ok(peers)
}

/// A label key is a name, behind a domain and a slash if it has one.
fn check_label(label: &str) -> Result<(), BuildError> {
    if let Some((key, _)) = label.split_once('=') {
        return Err(BuildError::AllowedFrom(format!(
            "\"{label}\" has a value. Only label keys can be given: any namespace that has the label may connect, \
             whatever its value. Write \"{key}\""
        )));
    }
    let name = label.rsplit('/').next().unwrap_or_default();
    let ends = |text: &str| {
        text.starts_with(|char: char| char.is_ascii_alphanumeric())
            && text.ends_with(|char: char| char.is_ascii_alphanumeric())
    };
    let inside = |char: char| char.is_ascii_alphanumeric() || "-_.".contains(char);
    let domain = label.rsplit_once('/').map(|(domain, _)| domain);
    if name.len() <= 63 && ends(name) && name.chars().all(inside) && domain.is_none_or(is_subdomain) {
        return Ok(());
    }
    Err(BuildError::AllowedFrom(format!("\"{label}\" is no label key, such as \"team\" or \"example.com/team\"")))
}
