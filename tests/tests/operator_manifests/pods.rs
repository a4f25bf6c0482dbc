//! Pods against the Pod Security admission of the API server.

use crate::operator_manifests::children::recorded;
use crate::operator_manifests::installed::{overlay, rendered};
use crate::operator_manifests::{repository, server};
use llsd_tests::cluster::{Answer, Request};
use serde_json::{Value, json};
use std::fs;
use std::sync::OnceLock;

/// A namespace that takes only what the standard `restricted` lets through.
fn restricted() -> &'static str {
    static MADE: OnceLock<()> = OnceLock::new();
    MADE.get_or_init(|| {
        let namespace = json!({
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": "restricted", "labels": {"pod-security.kubernetes.io/enforce": "restricted"}},
        });
        assert!(server().send(Request::post("/api/v1/namespaces", &namespace)).accepted());
        let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}});
        assert!(server().send(Request::post("/api/v1/namespaces/restricted/serviceaccounts", &account)).accepted());
    });
    "restricted"
}

/// What the API server says of the pod that a Deployment would make.
fn pod_of(deployment: &Value) -> Answer {
    let mut pod = deployment["spec"]["template"].clone();
    pod["apiVersion"] = json!("v1");
    pod["kind"] = json!("Pod");
    pod["metadata"]["name"] = json!("pod");
    pod["spec"]["serviceAccountName"] = json!("default");
    // Classes of that name are made by a running cluster; what they stand for does not matter here.
    pod["spec"].as_object_mut().expect("a pod").shift_remove("priorityClassName");
    server().send(Request::post(format!("/api/v1/namespaces/{}/pods", restricted()), &pod).dry())
}

/// Those that say otherwise, and those that an older operator made: a third document of the case is the Deployment that
/// runs. Only where OpenShift would let no new pod in, it is not kept.
fn says_otherwise(name: &str) -> bool {
    let case = repository("operator/tests/cases").join(format!("{name}.yaml"));
    let documents = fs::read_to_string(case).expect("a case").lines().filter(|line| *line == "---").count() + 1;
    ["unrestricted", "security"].contains(&name) || (documents > 2 && name != "openshift-moved")
}

#[test]
fn servers_pass_the_standard_restricted() {
    let mut passed = 0;
    for (name, objects) in recorded() {
        let Some(deployment) = objects.iter().find(|object| object["kind"] == "Deployment") else { continue };
        let answer = pod_of(deployment);
        let token = &deployment["spec"]["template"]["spec"]["automountServiceAccountToken"];
        if says_otherwise(&name) {
            assert!(answer.message().contains("violates PodSecurity"), "{name}: {}", answer.message());
            assert_ne!(token, false, "{name}");
        } else {
            assert!(answer.accepted(), "{name}: {}", answer.message());
            assert_eq!(token, false, "{name}");
            passed += 1;
        }
    }
    assert!(passed > 20, "{passed}");
}

#[test]
fn the_operator_passes_the_standard_restricted() {
    for name in ["kubernetes", "cert-manager", "openshift", "single-namespace"] {
        let objects = rendered(&overlay(name));
        let answer = pod_of(super::installed::manager(&objects));
        assert!(answer.accepted(), "{name}: {}", answer.message());
    }
}
