//! What an `OGXServer` takes over: from a `LlamaStackDistribution`, and from the operator that served it before.

use super::{BASE, KIND, Own, object, text, world};
use crate::operator::setup::{messages, start_bare, volume};
use llsd_tests::cluster;
use llsd_tests::operator::{Audit, condition, grant_ogx};
use serde_json::{Value, json};

/// The volume and the Service of an old server, while the same operator looks after both kinds.
#[test]
fn what_a_llama_stack_had_is_adopted_and_nothing_is_lost() {
    let own = Own::start("ogx-adopt", &["--ogx-servers"]);
    let namespace = &own.namespace;
    let with_volume = json!({"distribution": {"name": "starter"}, "workload": {"storage": {"size": "5Gi"}}});
    namespace.resource("llamastackdistributions", "old", with_volume.clone());
    namespace.ready("old");
    let bound = |claim: &Value| claim["status"]["phase"] == "Bound";
    let before = namespace.wait("persistentvolumeclaims", "old-pvc", "is bound", bound);
    let service = namespace.get("services", "old-service");
    // A pod that takes its time to go: until then nothing else may mount the volume.
    let pods = namespace.list("pods", "app.kubernetes.io/instance=old");
    let pod = pods[0]["metadata"]["name"].as_str().expect("a name");
    namespace.merge("pods", pod, &json!({"metadata": {"finalizers": ["example.com/wait"]}}));

    let mut new = object("new", &with_volume);
    new["metadata"]["annotations"] = json!({"ogx.io/adopt-storage": "old", "ogx.io/adopt-networking": "old"});
    namespace.post(KIND, &new);
    let waiting = namespace.wait(KIND, "new", "waits for the old pod", |object| {
        text(object, "StorageAdopted").contains("1 pods of \"old\" are still there")
    });
    assert_eq!((&waiting["status"]["phase"], namespace.try_get("deployments", "new")), (&json!("Pending"), None));
    let claim = namespace.get("persistentvolumeclaims", "old-pvc");
    assert!(claim["metadata"]["ownerReferences"].is_null(), "the end of the old resource does not end it any more");
    assert_eq!(namespace.get("services", "old-service")["spec"], service["spec"]);

    namespace.merge("pods", pod, &json!({"metadata": {"finalizers": null}}));
    let ready = own.ready("new");
    assert_eq!(condition(&ready, "StorageAdopted")["status"], "True", "{}", messages(&ready));
    assert_eq!(condition(&ready, "NetworkingAdopted")["status"], "True", "{}", messages(&ready));
    let claim = namespace.get("persistentvolumeclaims", "old-pvc");
    assert_eq!(
        (&claim["metadata"]["uid"], &claim["spec"]["volumeName"]),
        (&before["metadata"]["uid"], &before["spec"]["volumeName"])
    );
    assert_eq!(claim["metadata"]["labels"]["ogx.io/adopted-from"], "old");
    assert_eq!(claim["metadata"]["labels"]["app.kubernetes.io/instance"], "new");
    assert!(claim["metadata"]["annotations"]["ogx.io/adopted-at"].is_string());
    assert!(namespace.try_get("persistentvolumeclaims", "new-pvc").is_none());
    let mounted = || {
        let deployment = namespace.get("deployments", "new");
        volume(&deployment, "ogx-storage")["persistentVolumeClaim"]["claimName"].clone()
    };
    assert_eq!(mounted(), "old-pvc");
    let taken = namespace.get("services", "old-service");
    assert_eq!(taken["metadata"]["uid"], service["metadata"]["uid"]);
    assert_eq!(taken["spec"]["selector"], json!({"app": "ogx", "app.kubernetes.io/instance": "new"}));
    assert_eq!(taken["spec"]["ports"], service["spec"]["ports"]);
    assert_eq!(taken["metadata"]["ownerReferences"][0]["kind"], "OGXServer");

    // The old resource says what became of it, and its pods do not come back.
    let told = namespace.wait_for("old", "tells of it", |object| {
        text(object, "DeploymentReady")
            .contains("PersistentVolumeClaim \"old-pvc\" was handed over to OGXServer \"new\"")
    });
    assert_eq!(told["status"]["phase"], "Failed");
    let _ = Audit::from_now(world().cluster).settled("ogx-adopt");
    assert_eq!(namespace.get("deployments", "old")["spec"]["replicas"], 0);

    // The way that loses the volume otherwise: the old resource goes.
    namespace.delete("llamastackdistributions", "old");
    namespace.gone("deployments", "old");
    let _ = Audit::from_now(world().cluster).settled("ogx-adopt");
    for (plural, name) in [("persistentvolumeclaims", "old-pvc"), ("services", "old-service")] {
        assert!(namespace.get(plural, name)["metadata"]["deletionTimestamp"].is_null(), "{plural}");
    }
    own.ready("new");

    // Without the annotations the volume stays adopted, and the Service goes.
    let none = json!({"metadata": {"annotations": {"ogx.io/adopt-storage": null, "ogx.io/adopt-networking": null}}});
    namespace.merge(KIND, "new", &none);
    namespace.gone("services", "old-service");
    let _ = Audit::from_now(world().cluster).settled("ogx-adopt");
    assert_eq!(mounted(), "old-pvc");
    assert!(namespace.try_get("persistentvolumeclaims", "new-pvc").is_none());

    // What cannot be adopted is told.
    let mut own_name = object("self", &with_volume);
    own_name["metadata"]["annotations"] = json!({"ogx.io/adopt-storage": "self"});
    namespace.post(KIND, &own_name);
    let told = namespace
        .wait(KIND, "self", "is told", |object| condition(object, "AdoptionConfigInvalid")["status"] == "True");
    assert!(text(&told, "AdoptionConfigInvalid").contains("must not equal the CR name"), "{}", messages(&told));
    let mut second = object("second", &with_volume);
    second["metadata"]["annotations"] = json!({"ogx.io/adopt-storage": "old"});
    namespace.post(KIND, &second);
    namespace.wait(KIND, "second", "is refused", |object| {
        text(object, "DeploymentReady").contains("OGXServer \"new\" has adopted it")
    });
    own.was_refused_nothing();
}

/// What ogx-k8s-operator made of a resource is gone on with, and its pods are not restarted.
#[test]
fn what_the_operator_of_ogx_left_behind_is_taken_over() {
    let own_namespace = world().namespace("ogx-take-over");
    let namespace = &own_namespace;
    let config = namespace.config_map("mine", json!({"run.yaml": BASE}));
    let spec = json!({
        "distribution": {"image": "registry.example/ogx:1.5.0"},
        "overrideConfig": {"name": "mine", "key": "run.yaml"},
    });
    let resource = namespace.post(KIND, &object("chat", &spec));
    let labels = json!({
        "app.kubernetes.io/managed-by": "ogx-operator", "app.kubernetes.io/part-of": "ogx", "ogx.io/watch": "true",
    });
    let pods = json!({"app": "ogx", "app.kubernetes.io/instance": "chat"});
    let variable = |name: &str, value: &str| json!({"name": name, "value": value});
    let version = config["metadata"]["resourceVersion"].as_str().expect("a version");
    let template = json!({
        "metadata": {"labels": pods, "annotations": {"configmap.hash/user-config": format!("{version}-mine")}},
        "spec": {
            "serviceAccountName": "chat-sa",
            "securityContext": {"fsGroup": 1001},
            "containers": [{
                "name": "ogx",
                "image": "registry.example/ogx:1.5.0",
                "env": [
                    variable("HF_HOME", "/.ogx"),
                    variable("OGX_WORKERS", "1"),
                    variable("OGX_PORT", "8321"),
                    variable("RUN_CONFIG_PATH", "/etc/ogx/config.yaml"),
                    variable("OGX_CONFIG", "/etc/ogx/config.yaml"),
                    variable("OGX_METRICS_ENDPOINT_ENABLED", "1"),
                    variable("OGX_METRICS_HOST", "0.0.0.0"),
                    variable("OGX_METRICS_PORT", "9464"),
                ],
                "ports": [
                    {"containerPort": 8321, "protocol": "TCP"},
                    {"containerPort": 9464, "name": "metrics", "protocol": "TCP"},
                ],
                "resources": {"requests": {"cpu": "1", "memory": "1Gi"}},
                "startupProbe": {
                    "httpGet": {"path": "/v1/health", "port": 8321},
                    "initialDelaySeconds": 15,
                    "timeoutSeconds": 30,
                    "failureThreshold": 3,
                    "successThreshold": 1,
                },
                "volumeMounts": [
                    {"name": "ogx-storage", "mountPath": "/.ogx"},
                    {"name": "user-config", "mountPath": "/etc/ogx/", "readOnly": true},
                ],
            }],
            "volumes": [
                {"name": "ogx-storage", "emptyDir": {}},
                {
                    "name": "user-config",
                    "configMap": {"name": "mine", "items": [{"key": "run.yaml", "path": "config.yaml"}]},
                },
            ],
        },
    });
    let leave = |plural: &str, api_version: &str, kind: &str, name: &str, parts: Value| {
        let mut child = parts;
        child["apiVersion"] = json!(api_version);
        child["kind"] = json!(kind);
        child["metadata"] = json!({"name": name, "labels": labels, "ownerReferences": [{
            "apiVersion": "ogx.io/v1beta1", "kind": "OGXServer", "name": "chat", "uid": resource["metadata"]["uid"],
            "controller": true, "blockOwnerDeletion": true,
        }]});
        let answer =
            world().cluster.send(cluster::Request::apply(namespace.path(plural, name), "ogx-operator", &child));
        assert!(answer.accepted(), "{}", answer.message());
    };
    leave("serviceaccounts", "v1", "ServiceAccount", "chat-sa", json!({}));
    let ports = json!([{"name": "http", "port": 8321}, {"name": "metrics", "port": 9464}, {"name": "old", "port": 1}]);
    leave("services", "v1", "Service", "chat-service", json!({"spec": {"selector": pods, "ports": ports}}));
    let deployment = json!({"spec": {"replicas": 1, "selector": {"matchLabels": pods}, "template": template}});
    leave("deployments", "apps/v1", "Deployment", "chat", deployment);
    let before = namespace.wait("deployments", "chat", "runs", |now| now["status"]["readyReplicas"] == 1);

    let system = world().operator_namespace("ogx-take-over-system");
    grant_ogx(world().cluster, system.name());
    let operator = start_bare(&system, namespace.name(), &["--ogx-servers"]);
    let own = Own { namespace: own_namespace.clone(), operator };
    own.ready("chat");
    let _ = Audit::from_now(world().cluster).settled("ogx-take-over");
    let after = namespace.get("deployments", "chat");
    assert_eq!(after["metadata"]["uid"], before["metadata"]["uid"]);
    assert_eq!(after["spec"]["template"], before["spec"]["template"]);
    assert_eq!(namespace.list("replicasets", "app.kubernetes.io/instance=chat").len(), 1);
    // What that operator wrote and nobody asks for goes.
    let ports = namespace.get("services", "chat-service")["spec"]["ports"].take();
    assert_eq!(ports.as_array().map(Vec::len), Some(2), "{ports}");
    own.was_refused_nothing();
}
