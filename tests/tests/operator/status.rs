//! Phases and conditions, on the way and in the end.

use crate::operator::setup::{minimal, world};
use llsd_tests::operator::{Audit, condition};
use serde_json::json;
use std::thread;
use std::time::Duration;

#[test]
fn a_server_that_starts_is_initializing() {
    let namespace = world().namespace("status-starts");
    world().stand_in.hold("status-starts");
    let mut spec = minimal();
    spec["workload"] = json!({"storage": {}, "replicas": 1});
    namespace.resource("llamastackdistributions", "starts", spec);
    let waits = namespace.wait_for("starts", "waits", |object| object["status"]["phase"] == "Initializing");
    let ready = condition(&waits, "DeploymentReady");
    assert_eq!((&ready["status"], &ready["message"]), (&json!("False"), &json!("Deployment is pending")));
    assert_eq!(condition(&waits, "HealthCheck")["reason"], "HealthCheckFailed");
    namespace.wait_for("starts", "waits for its claim", |object| {
        let storage = condition(object, "StorageReady");
        storage["reason"] == "StorageFailed" && storage["message"] == "PVC is not bound: Pending"
    });
    // Waiting costs nothing.
    let _ = Audit::from_now(world().cluster).settled("status-starts");
    let audit = Audit::from_now(world().cluster);
    thread::sleep(Duration::from_secs(5));
    let requests: Vec<_> = audit
        .entries()
        .into_iter()
        .filter(|entry| entry.namespace == "status-starts" && entry.verb != "watch")
        .collect();
    assert_eq!(requests, []);
    world().stand_in.release("status-starts");
    namespace.ready("starts");
    namespace.wait_condition("starts", "StorageReady", "True", "StorageReady");
}

#[test]
fn a_rollout_in_progress_is_not_ready() {
    let namespace = world().namespace("status-rollout");
    namespace.resource("llamastackdistributions", "rollout", minimal());
    namespace.ready("rollout");
    world().stand_in.hold("status-rollout");
    let env = json!({"workload": {"overrides": {"env": [{"name": "NEW", "value": "yes"}]}}});
    namespace.change("rollout", env);
    // The old pod still serves, but not what was asked for.
    let rolling = namespace.wait_condition("rollout", "Available", "False", "RolloutInProgress");
    assert_eq!(rolling["status"]["phase"], "Initializing");
    assert_eq!(condition(&rolling, "DeploymentReady")["status"], "False");
    world().stand_in.release("status-rollout");
    namespace.ready("rollout");
}

#[test]
fn nothing_is_ready_when_nothing_is_asked_for() {
    let namespace = world().namespace("status-zero");
    let mut spec = minimal();
    spec["workload"] = json!({"replicas": 0});
    namespace.resource("llamastackdistributions", "zero", spec);
    let ready = namespace.ready("zero");
    assert_eq!(ready["status"]["availableReplicas"], 0);
    let _ = Audit::from_now(world().cluster).settled("status-zero");
    // Ready is the last word: no write comes after it.
    assert_eq!(
        namespace.get("llamastackdistributions", "zero")["metadata"]["resourceVersion"],
        ready["metadata"]["resourceVersion"]
    );
    namespace.change("zero", json!({"workload": {"replicas": 2}}));
    let ready = namespace.ready("zero");
    assert_eq!(ready["status"]["availableReplicas"], 2);
}

#[test]
fn a_transition_time_moves_with_the_status_alone() {
    let namespace = world().namespace("status-times");
    namespace.resource("llamastackdistributions", "times", minimal());
    let before = namespace.ready("times");
    thread::sleep(Duration::from_millis(1_100)); // times have whole seconds
    namespace.change("times", json!({"networking": {"expose": {}}}));
    let after = namespace.wait_for("times", "has seen the change", |object| {
        condition(object, "ServiceReady")["observedGeneration"] == 2 && object["status"]["phase"] == "Ready"
    });
    for kind in ["DeploymentReady", "ServiceReady", "HealthCheck", "Available"] {
        let times = [&before, &after].map(|object| condition(object, kind)["lastTransitionTime"].clone());
        assert_eq!(times[0], times[1], "{kind}");
    }
    let kinds: Vec<_> = after["status"]["conditions"].as_array().unwrap().iter().map(|one| &one["type"]).collect();
    let mut unique = kinds.clone();
    unique.dedup();
    assert_eq!(kinds, unique);
}

#[test]
fn two_ready_pods_of_three_are_not_enough() {
    let namespace = world().namespace("status-partly");
    let mut spec = minimal();
    // From one replica to two the pods would be replaced: those of several are spread.
    spec["workload"] = json!({"replicas": 2});
    namespace.resource("llamastackdistributions", "partly", spec);
    namespace.ready("partly");
    world().stand_in.hold("status-partly");
    namespace.change("partly", json!({"workload": {"replicas": 3}}));
    let waits = namespace.wait_for("partly", "waits for the third", |object| {
        condition(object, "DeploymentReady")["message"] == "Deployment is scaling: 2/3 replicas ready"
    });
    assert_eq!(waits["status"]["phase"], "Initializing");
    assert_eq!(waits["status"]["availableReplicas"], 2);
    assert_eq!(condition(&waits, "Available")["message"], "2/3 replicas available with current config");
    world().stand_in.release("status-partly");
    namespace.ready("partly");
}

/// Network policies are off unless the operator's ConfigMap switches them on.
#[test]
fn who_may_connect_is_told_where_nobody_sees_to_it() {
    let namespace = world().namespace("status-access");
    let mut spec = minimal();
    spec["networking"] = json!({"allowedFrom": {"namespaces": ["apps"]}});
    namespace.resource("llamastackdistributions", "access", spec);
    let told = namespace.wait_condition("access", "AccessRestricted", "False", "NetworkPoliciesOff");
    let message = condition(&told, "AccessRestricted")["message"].as_str().unwrap();
    assert!(message.contains("allowedFrom has no effect"), "{message}");
    let event = namespace.event("access", "AcceptedWithWarnings");
    assert!(event["message"].as_str().unwrap_or_default().contains("allowedFrom has no effect"), "{event}");
    // one that says nothing of it has no such condition
    namespace.resource("llamastackdistributions", "open", minimal());
    let open = namespace.ready("open");
    let all = open["status"]["conditions"].as_array().unwrap();
    assert!(all.iter().all(|one| one["type"] != "AccessRestricted"), "{all:?}");
}
