//! Configurations of the user's own.

use crate::operator::setup::{messages, minimal, volume, world};
use llsd_tests::operator::{Audit, condition};
use serde_json::{Value, json};

fn with_config(name: &str) -> Value {
    let mut spec = minimal();
    spec["overrideConfig"] = json!({"configMapName": name});
    spec
}

#[test]
fn a_configmap_that_is_missing_is_told_and_noticed_when_it_comes() {
    let namespace = world().namespace("user-missing");
    namespace.resource("llamastackdistributions", "missing", with_config("mine"));
    let failed = namespace.wait_for("missing", "has failed", |object| object["status"]["phase"] == "Failed");
    let ready = condition(&failed, "DeploymentReady");
    assert_eq!(ready["reason"], "DeploymentFailed");
    let text = "Resource reconciliation failed: failed to find referenced ConfigMap user-missing/mine";
    assert!(ready["message"].as_str().unwrap().contains(text), "{}", messages(&failed));
    // Without any label of ours.
    namespace.config_map("mine", json!({"config.yaml": "version: 2\n"}));
    namespace.ready("missing");
    assert_eq!(volume(&namespace.get("deployments", "missing"), "user-config")["configMap"]["name"], "mine");
}

#[test]
fn changed_data_restarts_the_pods_and_a_label_does_not() {
    let namespace = world().namespace("user-changed");
    namespace.config_map("mine", json!({"config.yaml": "version: 2\n"}));
    namespace.resource("llamastackdistributions", "changed", with_config("mine"));
    namespace.ready("changed");
    let before = namespace.get("deployments", "changed");
    let _ = Audit::from_now(world().cluster).settled("user-changed");

    let audit = Audit::from_now(world().cluster);
    namespace.merge("configmaps", "mine", &json!({"metadata": {"labels": {"mine": "yes"}}}));
    assert_eq!(audit.settled("user-changed"), []);
    namespace.merge("configmaps", "mine", &json!({"data": {"config.yaml": "version: 2\napis: []\n"}}));
    let after = namespace.wait("deployments", "changed", "has a new template", |now| {
        now["spec"]["template"] != before["spec"]["template"]
    });
    assert_eq!(after["metadata"]["generation"], 2);
}

#[test]
fn without_it_nothing_of_it_is_left() {
    let namespace = world().namespace("user-cleared");
    namespace.config_map("mine", json!({"config.yaml": "version: 2\n"}));
    let spec = json!({"server": {"distribution": {"name": "starter"}, "userConfig": {"configMapName": "mine"}}});
    namespace.resource("v1alpha1", "cleared", spec);
    namespace.ready("cleared");
    let deployment = namespace.get("deployments", "cleared");
    assert!(crate::operator::setup::container(&deployment)["command"].is_array());
    namespace.merge("v1alpha1", "cleared", &json!({"spec": {"server": {"userConfig": null}}}));
    let deployment =
        namespace.wait("deployments", "cleared", "has no config", |now| volume(now, "user-config").is_null());
    let container = crate::operator::setup::container(&deployment);
    assert!(container.get("command").is_none(), "{container:#}");
    let mounts = container["volumeMounts"].as_array().unwrap();
    assert!(mounts.iter().all(|mount| mount["name"] != "user-config"), "{mounts:#?}");
    let marks = &deployment["spec"]["template"]["metadata"]["annotations"];
    assert!(marks.get("configmap.hash/user-config").is_none(), "{marks}");
    assert_eq!(deployment["metadata"]["generation"], 2);
    assert!(namespace.try_get("configmaps", "mine").is_some(), "it is the user's");
}

#[test]
fn one_of_another_namespace_is_explained() {
    let namespace = world().namespace("user-elsewhere");
    let other = world().namespace("user-elsewhere-other");
    other.config_map("mine", json!({"config.yaml": "version: 2\n"}));
    let spec = json!({"server": {
        "distribution": {"name": "starter"},
        "userConfig": {"configMapName": "mine", "configMapNamespace": "user-elsewhere-other"},
    }});
    namespace.resource("v1alpha1", "elsewhere", spec);
    let failed = namespace.wait_for("elsewhere", "has failed", |object| object["status"]["phase"] == "Failed");
    let text = "a pod can only mount ConfigMaps of its own namespace";
    assert!(messages(&failed).contains(text), "{}", messages(&failed));
    assert!(namespace.try_get("deployments", "elsewhere").is_none());
}
