//! What the user `operator` may do: exactly what the manifests of the installation let the operator do.

use crate::cluster::{Cluster, Request};
use anyhow::Result;
use serde::Deserialize as _;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

const API: &str = "/apis/rbac.authorization.k8s.io/v1";

/// Gives the user `operator` the roles that `operator/deploy/rbac` has for the operator, those of its own namespace in
/// `namespace`.
///
/// # Panics
///
/// If the manifests cannot be read, or the API server refuses them.
pub fn grant(cluster: &Cluster, namespace: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../operator/deploy/rbac");
    let mut files = Vec::new();
    collect(&folder, &mut files).expect("operator/deploy/rbac can be read");
    for text in files {
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

/// The YAML files in a folder and those below it.
fn collect(folder: &Path, files: &mut Vec<String>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "yaml") {
            files.push(fs::read_to_string(path)?);
        }
    }
    Ok(())
}
