//! What the user `operator` may do: exactly what the manifests of the installation let the operator do.

use crate::cluster::{Cluster, Request};
use serde::Deserialize as _;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// Below `operator/deploy/rbac`: what the overlay `kubernetes` grants.
const GRANTED: [&str; 4] = ["role.yaml", "own/role.yaml", "certificates/role.yaml", "metrics/role.yaml"];
const API: &str = "/apis/rbac.authorization.k8s.io/v1";

/// Below `operator/deploy/rbac`: what the component `ogx` adds.
const FOR_OGX: [&str; 1] = ["ogx/role.yaml"];

/// Gives the user `operator` what the component `ogx` adds to the overlay `kubernetes`; see [`grant`].
///
/// # Panics
///
/// The API server refuses it, as for [`grant`].
pub fn grant_ogx(cluster: &Cluster, namespace: &str) {
    apply(cluster, namespace, &FOR_OGX);
}

/// Gives the user `operator` the roles that the overlay `kubernetes` gives the operator, those of its own namespace in
/// `namespace`.
///
/// # Panics
///
/// If the manifests cannot be read, or the API server refuses them.
pub fn grant(cluster: &Cluster, namespace: &str) {
    apply(cluster, namespace, &GRANTED);
}

fn apply(cluster: &Cluster, namespace: &str, files: &[&str]) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../operator/deploy/rbac");
    for file in files {
        let text = fs::read_to_string(folder.join(file)).expect("operator/deploy/rbac can be read");
        for document in serde_yaml::Deserializer::from_str(&text) {
            let Ok(mut object) = Value::deserialize(document) else { continue };
            let name = object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
            let plural = match object["kind"].as_str() {
                Some("ClusterRole") => "clusterroles",
                Some("ClusterRoleBinding") => "clusterrolebindings",
                Some("Role") => "roles",
                Some("RoleBinding") => "rolebindings",
                _ => continue,
            };
            if object["subjects"].is_array() {
                object["subjects"] =
                    json!([{"kind": "User", "name": "operator", "apiGroup": "rbac.authorization.k8s.io"}]);
            }
            let collection = if plural.starts_with("cluster") {
                format!("{API}/{plural}")
            } else {
                object["metadata"]["namespace"] = json!(namespace);
                format!("{API}/namespaces/{namespace}/{plural}")
            };
            let answer = cluster.send(Request::apply(format!("{collection}/{name}"), "tests", &object));
            assert!(answer.accepted(), "{plural}/{name}: {}", answer.message());
        }
    }
}
