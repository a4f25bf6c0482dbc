//! The Ingress: the way in from outside the cluster.

use super::metadata::child;
use super::{Child, Desired, INSTANCE, Kind, MANAGED_BY};
use serde_json::{Map, json};

/// What the resource does not name, the class and TLS, is left to whoever runs the ingress controller and stays as they set
/// it; annotations always.
pub(super) fn build(desired: &Desired<'_>, port: u16) -> Option<Child> {
    let expose = desired.spec.networking.as_ref()?.expose.as_ref().filter(|expose| expose.is_on())?;
    let service = json!({"name": Kind::Service.name(&desired.owner.name), "port": {"number": port}});
    let mut rule = Map::new();
    if let Some(host) = &expose.hostname {
        rule.insert("host".to_owned(), json!(host));
    }
    rule.insert(
        "http".to_owned(),
        json!({"paths": [{"path": "/", "pathType": "Prefix", "backend": {"service": service}}]}),
    );
    let mut spec = Map::new();
    if let Some(class) = &expose.class_name {
        spec.insert("ingressClassName".to_owned(), json!(class));
    }
    if let Some(secret) = &expose.tls_secret_name {
        let hosts: Vec<_> = expose.hostname.iter().collect();
        let mut tls = json!({"secretName": secret});
        if !hosts.is_empty() {
            tls["hosts"] = json!(hosts);
        }
        spec.insert("tls".to_owned(), json!([tls]));
    }
    spec.insert("rules".to_owned(), json!([rule]));
    let labels = [(MANAGED_BY, desired.owner.served.manager), (INSTANCE, &desired.owner.name)];
    let labels = labels.into_iter().map(|(key, value)| (key.to_owned(), json!(value))).collect();
    Some(child(Kind::Ingress, desired.owner, labels, json!({ "spec": spec })))
}
