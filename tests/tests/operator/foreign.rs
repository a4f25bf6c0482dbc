//! Objects that somebody else made under a name that a resource needs.

use crate::operator::setup::{is_owned, messages, minimal, world};
use llsd_tests::operator::{Namespace, wait_until};
use serde_json::{Value, json};

fn deployment(name: &str, labels: Value, selector: Value) -> Value {
    json!({
        "metadata": {"name": name, "labels": labels},
        "spec": {
            "selector": {"matchLabels": selector},
            "template": {
                "metadata": {"labels": selector},
                "spec": {"containers": [{"name": "theirs", "image": "example.com/theirs:1"}]},
            },
        },
    })
}

/// Waits until the resource tells that this object is in its way.
fn told(namespace: &Namespace, resource: &str, name: &str) {
    namespace.wait_for(resource, &format!("tells about {name}"), |object| messages(object).contains(name));
    wait_until("a warning", || {
        let events = namespace.list("events", "");
        let mut about = events.iter().filter(|event| event["involvedObject"]["name"] == *resource);
        about.any(|event| event["type"] == "Warning" && event["message"].as_str().unwrap().contains(name))
    });
}

#[test]
fn a_foreign_deployment_is_reported_and_never_touched() {
    let namespace = world().namespace("foreign-deployment");
    let theirs = deployment("taken", json!({}), json!({"app": "theirs"}));
    let theirs = namespace.post("deployments", &theirs);
    namespace.resource("llamastackdistributions", "taken", minimal());
    told(&namespace, "taken", "taken");
    let failed = namespace.wait_for("taken", "has failed", |object| object["status"]["phase"] == "Failed");
    assert!(messages(&failed).contains("DeploymentReady"), "{}", messages(&failed));
    let now = namespace.get("deployments", "taken");
    assert_eq!(now["metadata"]["uid"], theirs["metadata"]["uid"]);
    assert_eq!(now["metadata"]["generation"], 1);
    assert!(now["metadata"]["ownerReferences"].is_null());
    namespace.delete("deployments", "taken");
    namespace.ready("taken");
}

#[test]
fn a_foreign_service_is_reported_and_never_touched() {
    let namespace = world().namespace("foreign-service");
    let theirs = json!({
        "metadata": {"name": "taken-service"},
        "spec": {"ports": [{"port": 80}], "selector": {"app": "theirs"}},
    });
    let theirs = namespace.post("services", &theirs);
    namespace.resource("llamastackdistributions", "taken", minimal());
    told(&namespace, "taken", "taken-service");
    assert_eq!(namespace.get("services", "taken-service")["spec"], theirs["spec"]);
    // The server runs all the same: its pods need no Service.
    namespace.wait("deployments", "taken", "is ready", |now| now["status"]["readyReplicas"] == 1);
    namespace.delete("llamastackdistributions", "taken");
    namespace.gone("deployments", "taken");
    assert!(namespace.try_get("services", "taken-service").is_some());
}

#[test]
fn a_foreign_account_keeps_the_server_from_running() {
    let namespace = world().namespace("foreign-account");
    namespace.post("serviceaccounts", &json!({"metadata": {"name": "taken-sa"}}));
    namespace.resource("llamastackdistributions", "taken", minimal());
    told(&namespace, "taken", "taken-sa");
    namespace.wait_for("taken", "has failed", |object| object["status"]["phase"] == "Failed");
    assert!(namespace.try_get("deployments", "taken").is_none(), "pods would run with somebody else's rights");
    namespace.delete("serviceaccounts", "taken-sa");
    namespace.ready("taken");
}

#[test]
fn an_object_of_another_owner_is_foreign() {
    let namespace = world().namespace("foreign-owned");
    let other = namespace.config_map("other", json!({}));
    // It says that it is managed by the operator, but it belongs to something else.
    let theirs = json!({
        "metadata": {
            "name": "mine-service",
            "labels": {"app.kubernetes.io/managed-by": "llama-stack-operator"},
            "ownerReferences": [{
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "name": "other",
                "uid": other["metadata"]["uid"],
                "controller": true,
            }],
        },
        "spec": {"ports": [{"port": 80}], "selector": {"app": "theirs"}},
    });
    let theirs = namespace.post("services", &theirs);
    namespace.resource("llamastackdistributions", "mine", minimal());
    namespace.wait_for("mine", "tells about it", |object| messages(object).contains("mine-service"));
    let now = namespace.get("services", "mine-service");
    assert_eq!(now["spec"], theirs["spec"]);
    assert_eq!(now["metadata"]["ownerReferences"], theirs["metadata"]["ownerReferences"]);
}

#[test]
fn a_deployment_that_lost_its_owner_is_adopted_again() {
    let namespace = world().namespace("foreign-orphan");
    let created = namespace.resource("llamastackdistributions", "orphan", minimal());
    namespace.ready("orphan");
    let uid = namespace.get("deployments", "orphan")["metadata"]["uid"].clone();
    namespace.merge("deployments", "orphan", &json!({"metadata": {"ownerReferences": null}}));
    let adopted = namespace.wait("deployments", "orphan", "has its owner again", |now| is_owned(now, &created));
    assert_eq!(adopted["metadata"]["uid"], uid);
    assert_eq!(adopted["metadata"]["generation"], 1);

    // One that only looks alike is not.
    let labels = json!({"app.kubernetes.io/managed-by": "llama-stack-operator"});
    namespace.post("deployments", &deployment("alike", labels, json!({"app": "theirs"})));
    namespace.resource("llamastackdistributions", "alike", minimal());
    told(&namespace, "alike", "alike");
    assert!(namespace.get("deployments", "alike")["metadata"]["ownerReferences"].is_null());
}
