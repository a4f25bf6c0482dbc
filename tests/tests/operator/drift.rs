//! What others change, and what the resource no longer asks for.

use crate::operator::setup::{container, is_owned, minimal, variable, volume, world};
use llsd_tests::operator::{Audit, condition};
use serde_json::{Value, json};

fn replicas(object: &Value) -> &Value {
    &object["spec"]["replicas"]
}

#[test]
fn manual_edits_of_its_fields_are_taken_back() {
    let namespace = world().namespace("drift-edits");
    let created = namespace.resource("llamastackdistributions", "edited", minimal());
    namespace.ready("edited");
    namespace.merge("deployments", "edited", &json!({"spec": {"replicas": 4}}));
    namespace.wait("deployments", "edited", "has one replica again", |now| *replicas(now) == 1);
    namespace.merge("services", "edited-service", &json!({"spec": {"selector": {"app": "other"}}}));
    namespace.wait("services", "edited-service", "selects its pods again", |now| {
        now["spec"]["selector"]["app"] == "llama-stack"
    });
    // Without the label it is out of sight, but it is still ours.
    let label = json!({"metadata": {"labels": {"app.kubernetes.io/managed-by": null}}});
    namespace.merge("services", "edited-service", &label);
    namespace.wait("services", "edited-service", "has its label again", |now| {
        now["metadata"]["labels"]["app.kubernetes.io/managed-by"] == "llama-stack-operator"
    });
    namespace.merge("serviceaccounts", "edited-sa", &json!({"metadata": {"ownerReferences": null}}));
    namespace.wait("serviceaccounts", "edited-sa", "has its owner again", |now| is_owned(now, &created));
    for (kind, name) in [("services", "edited-service"), ("deployments", "edited"), ("serviceaccounts", "edited-sa")] {
        let uid = namespace.get(kind, name)["metadata"]["uid"].clone();
        namespace.delete(kind, name);
        namespace.wait(kind, name, "is there again", |now| now["metadata"]["uid"] != uid);
    }
    namespace.ready("edited");
}

#[test]
fn what_others_add_stays() {
    let namespace = world().namespace("drift-added");
    let mut spec = minimal();
    spec["networking"] = json!({"expose": {"hostname": "stack.example.com"}});
    namespace.resource("llamastackdistributions", "added", spec);
    namespace.ready("added");
    let theirs = json!({"metadata": {"annotations": {"example.com/theirs": "yes"}}});
    for (kind, name) in [("deployments", "added"), ("services", "added-service"), ("ingresses", "added-ingress")] {
        namespace.merge(kind, name, &theirs);
    }
    namespace.merge("ingresses", "added-ingress", &json!({"spec": {"ingressClassName": "theirs"}}));
    namespace.change("added", json!({"networking": {"port": 9000}}));
    let ingress = namespace.wait("ingresses", "added-ingress", "has the new port", |now| {
        now["spec"]["rules"][0]["http"]["paths"][0]["backend"]["service"]["port"]["number"] == 9000
    });
    assert_eq!(ingress["spec"]["ingressClassName"], "theirs");
    assert_eq!(ingress["spec"]["rules"][0]["host"], "stack.example.com");
    namespace.ready("added");
    for (kind, name) in [("deployments", "added"), ("services", "added-service"), ("ingresses", "added-ingress")] {
        assert_eq!(namespace.get(kind, name)["metadata"]["annotations"]["example.com/theirs"], "yes", "{kind}");
    }
}

#[test]
fn removed_fields_go() {
    let namespace = world().namespace("drift-removed");
    let mut spec = minimal();
    spec["workload"] = json!({"overrides": {
        "env": [{"name": "ONE", "value": "1"}, {"name": "TWO", "value": "2"}, {"name": "HF_HOME", "value": "/mine"}],
        "command": ["serve"],
        "args": ["--fast"],
        "volumes": [{"name": "scratch", "emptyDir": {}}],
        "volumeMounts": [{"name": "scratch", "mountPath": "/scratch"}],
        "terminationGracePeriodSeconds": 0,
    }});
    namespace.resource("llamastackdistributions", "removed", spec);
    namespace.ready("removed");
    let deployment = namespace.get("deployments", "removed");
    assert_eq!(variable(&deployment, "HF_HOME")["value"], "/mine", "the user's value wins");
    assert_eq!(container(&deployment)["args"], json!(["--fast"]));
    assert_eq!(deployment["spec"]["template"]["spec"]["terminationGracePeriodSeconds"], 0);

    let overrides = json!({"env": [{"name": "ONE", "value": "1"}]});
    namespace.change("removed", json!({"workload": null}));
    namespace.change("removed", json!({"workload": {"overrides": overrides}}));
    let after = namespace.wait("deployments", "removed", "is without them", |now| variable(now, "TWO").is_null());
    let after = namespace.wait("deployments", "removed", "has what is left", |now| {
        !variable(now, "ONE").is_null() && after["metadata"]["uid"] == now["metadata"]["uid"]
    });
    assert!(container(&after).get("command").is_none() && container(&after).get("args").is_none(), "{after:#}");
    assert!(volume(&after, "scratch").is_null());
    assert_eq!(container(&after)["volumeMounts"].as_array().unwrap().len(), 1);
    assert_eq!(variable(&after, "HF_HOME")["value"], "/.llama");
}

#[test]
fn another_container_name_and_port_leave_one_of_each() {
    let namespace = world().namespace("drift-renamed");
    let spec = |name: &str, port: u16| json!({"server": {"distribution": {"name": "starter"}, "containerSpec": {"name": name, "port": port}}});
    namespace.resource("v1alpha1", "renamed", spec("first", 9000));
    namespace.ready("renamed");
    namespace.merge("v1alpha1", "renamed", &json!({"spec": spec("second", 9001)}));
    let deployment = namespace
        .wait("deployments", "renamed", "has the new port", |now| variable(now, "LLS_PORT")["value"] == "9001");
    assert_eq!(container(&deployment)["name"], "second");
    assert_eq!(container(&deployment)["ports"], json!([{"containerPort": 9001, "protocol": "TCP"}]));
    assert_eq!(container(&deployment)["startupProbe"]["httpGet"]["port"], 9001);
    let service = namespace
        .wait("services", "renamed-service", "has the new port", |now| now["spec"]["ports"][0]["port"] == 9001);
    assert_eq!(service["spec"]["ports"].as_array().unwrap().len(), 1);
}

#[test]
fn storage_can_be_added_and_removed() {
    let namespace = world().namespace("drift-storage");
    namespace.resource("llamastackdistributions", "storage", minimal());
    namespace.ready("storage");
    namespace.change("storage", json!({"workload": {"storage": {"size": "2Gi"}}}));
    let deployment =
        namespace.wait("deployments", "storage", "is recreated", |now| now["spec"]["strategy"]["type"] == "Recreate");
    assert!(deployment["spec"]["strategy"].get("rollingUpdate").is_none());
    namespace.ready("storage");
    let bound = namespace.wait_condition("storage", "StorageReady", "True", "StorageReady");
    assert_eq!(condition(&bound, "StorageReady")["message"], "Storage is ready");

    // The claim cannot grow, and nobody pretends that it does.
    namespace.change("storage", json!({"workload": {"storage": {"size": "3Gi"}}}));
    namespace
        .wait_for("storage", "tells about the size", |object| crate::operator::setup::messages(object).contains("3Gi"));
    let claim = namespace.get("persistentvolumeclaims", "storage-pvc");
    assert_eq!(claim["spec"]["resources"]["requests"]["storage"], "2Gi");

    namespace.change("storage", json!({"workload": null}));
    let deployment = namespace
        .wait("deployments", "storage", "is rolled again", |now| now["spec"]["strategy"]["type"] == "RollingUpdate");
    assert!(volume(&deployment, "lls-storage").get("persistentVolumeClaim").is_none());
    let ready = namespace.ready("storage");
    assert!(condition(&ready, "StorageReady").is_null(), "{:#}", ready["status"]);
    assert!(namespace.try_get("persistentvolumeclaims", "storage-pvc").is_some(), "data is never removed");
}

#[test]
fn children_come_and_go_with_what_asks_for_them() {
    let namespace = world().namespace("drift-optional");
    namespace.resource("llamastackdistributions", "optional", minimal());
    namespace.ready("optional");
    namespace.change(
        "optional",
        json!({
            "networking": {"expose": {}},
            "workload": {
                "autoscaling": {"maxReplicas": 3, "targetMemoryUtilizationPercentage": 70},
                "podDisruptionBudget": {"minAvailable": 1},
            },
        }),
    );
    let budget = namespace.wait("poddisruptionbudgets", "optional-pdb", "is there", |_| true);
    assert_eq!(budget["spec"]["minAvailable"], 1);
    let scaler = namespace.wait("horizontalpodautoscalers", "optional-hpa", "is there", |_| true);
    assert_eq!(scaler["spec"]["metrics"].as_array().unwrap().len(), 1);
    namespace.wait("ingresses", "optional-ingress", "is there", |_| true);
    let ready = namespace.ready("optional");
    assert_eq!(ready["status"]["routeURL"], "", "there is no address yet");
    let address = json!({"status": {"loadBalancer": {"ingress": [{"ip": "192.0.2.7"}]}}});
    namespace.merge("ingresses", "optional-ingress/status", &address);
    namespace.wait_for("optional", "has an address", |object| object["status"]["routeURL"] == "http://192.0.2.7");

    let budget = json!({"minAvailable": null, "maxUnavailable": "50%"});
    namespace.change("optional", json!({"workload": {"podDisruptionBudget": budget}}));
    let budget = namespace.wait("poddisruptionbudgets", "optional-pdb", "has the other bound", |now| {
        now["spec"]["maxUnavailable"] == "50%"
    });
    assert!(budget["spec"].get("minAvailable").is_none());

    namespace.change("optional", json!({"workload": null, "networking": {"expose": {"enabled": false}}}));
    namespace.gone("poddisruptionbudgets", "optional-pdb");
    namespace.gone("horizontalpodautoscalers", "optional-hpa");
    namespace.gone("ingresses", "optional-ingress");
    namespace.wait_for("optional", "has no route", |object| object["status"].get("routeURL").is_none());
}

#[test]
fn a_scaled_deployment_is_left_to_its_autoscaler() {
    let namespace = world().namespace("drift-scaled");
    let mut spec = minimal();
    spec["workload"] = json!({"autoscaling": {"maxReplicas": 5}});
    namespace.resource("llamastackdistributions", "scaled", spec);
    namespace.ready("scaled");
    // What an autoscaler does.
    namespace.merge("deployments", "scaled/scale", &json!({"spec": {"replicas": 3}}));
    let ready = namespace.wait_for("scaled", "is ready with three", |object| {
        object["status"]["availableReplicas"] == 3 && object["status"]["phase"] == "Ready"
    });
    assert_eq!(condition(&ready, "Available")["message"], "3/3 replicas available with current config");
    let _ = Audit::from_now(world().cluster).settled("drift-scaled");
    assert_eq!(*replicas(&namespace.get("deployments", "scaled")), 3);
    // Without it, the resource decides again.
    namespace.change("scaled", json!({"workload": {"autoscaling": null, "replicas": 2}}));
    namespace.wait("deployments", "scaled", "has two replicas", |now| *replicas(now) == 2);
}
