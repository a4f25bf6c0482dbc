//! What comes of a new resource.

use crate::operator::setup::{container, generated, is_owned, minimal, variable, volume, with_vllm, world};
use llsd_tests::operator::condition;
use serde_json::json;

#[test]
fn a_resource_gets_its_children_and_becomes_ready() {
    let namespace = world().namespace("creation-minimal");
    let created = namespace.resource("llamastackdistributions", "small", minimal());
    let ready = namespace.ready("small");

    let deployment = namespace.get("deployments", "small");
    let service = namespace.get("services", "small-service");
    let account = namespace.get("serviceaccounts", "small-sa");
    for child in [&deployment, &service, &account] {
        assert!(is_owned(child, &created), "{child:#}");
        let labels = &child["metadata"]["labels"];
        assert_eq!(labels["app.kubernetes.io/managed-by"], "llama-stack-operator");
        assert_eq!(labels["app.kubernetes.io/part-of"], "llama-stack");
        assert_eq!(labels["llamastack.io/watch"], "true");
    }
    let selector = json!({"app": "llama-stack", "app.kubernetes.io/instance": "small"});
    assert_eq!(deployment["spec"]["selector"]["matchLabels"], selector);
    assert_eq!(container(&deployment)["image"], "docker.io/llamastack/distribution-starter:0.4.7");
    assert_eq!(variable(&deployment, "LLS_PORT")["value"], "8321");
    assert_eq!(service["spec"]["ports"][0]["port"], 8321);
    assert_eq!(service["spec"]["selector"], selector);
    assert!(generated(&namespace, "small").is_empty(), "the image brings its own configuration");
    for (kind, name) in [
        ("persistentvolumeclaims", "small-pvc"),
        ("networkpolicies", "small-network-policy"),
        ("horizontalpodautoscalers", "small-hpa"),
        ("poddisruptionbudgets", "small-pdb"),
        ("ingresses", "small-ingress"),
        ("rolebindings", "small-rb"),
        ("configmaps", "small-ca-bundle"),
    ] {
        assert!(namespace.try_get(kind, name).is_none(), "nobody asked for {kind}/{name}");
    }

    let status = &ready["status"];
    assert_eq!(status["serviceURL"], "http://small-service.creation-minimal.svc.cluster.local:8321");
    assert!(status.get("routeURL").is_none());
    assert_eq!(status["availableReplicas"], 1);
    assert_eq!(status["version"]["operatorVersion"], "1.2.3-test");
    assert_eq!(status["distributionConfig"]["activeDistribution"], "starter");
    assert_eq!(status["resolvedDistribution"]["image"], "docker.io/llamastack/distribution-starter:0.4.7");
    for (kind, reason, message) in [
        ("DeploymentReady", "DeploymentReady", "Deployment is ready"),
        ("HealthCheck", "HealthCheckPassed", "Health check passed"),
        ("ServiceReady", "ServiceReady", "Service is ready"),
        ("Available", "MinimumReplicasAvailable", "1/1 replicas available with current config"),
    ] {
        let condition = condition(&ready, kind);
        assert_eq!(condition["status"], "True", "{kind}: {condition:#}");
        assert_eq!(condition["reason"], reason, "{kind}");
        assert_eq!(condition["message"], message, "{kind}");
        assert_eq!(condition["observedGeneration"], 1, "{kind}");
    }
    assert!(condition(&ready, "StorageReady").is_null());
}

#[test]
fn a_resource_of_the_older_version_is_the_same_to_it() {
    let namespace = world().namespace("creation-older");
    namespace.config_map("mine", json!({"config.yaml": "version: 2\n"}));
    let spec = json!({
        "replicas": 2,
        "server": {
            "distribution": {"name": "starter"},
            "containerSpec": {"name": "server", "port": 9000, "env": [{"name": "MINE", "value": "yes"}]},
            "userConfig": {"configMapName": "mine"},
            "storage": {"size": "1Gi", "mountPath": "/data"},
        },
    });
    let created = namespace.resource("v1alpha1", "older", spec);
    let ready = namespace.wait("v1alpha1", "older", "is ready", |object| object["status"]["phase"] == "Ready");
    assert_eq!(ready["status"]["availableReplicas"], 2);
    namespace.wait_condition("older", "StorageReady", "True", "StorageReady");

    let deployment = namespace.get("deployments", "older");
    assert!(is_owned(&deployment, &created));
    assert_eq!(container(&deployment)["name"], "server");
    assert_eq!(container(&deployment)["command"][0], "/bin/sh");
    assert_eq!(variable(&deployment, "MINE")["value"], "yes");
    assert_eq!(variable(&deployment, "HF_HOME")["value"], "/data");
    assert_eq!(volume(&deployment, "user-config")["configMap"]["name"], "mine");
    assert_eq!(deployment["spec"]["strategy"]["type"], "Recreate");
    assert_eq!(namespace.get("services", "older-service")["spec"]["ports"][0]["targetPort"], 9000);
    let claim = namespace.get("persistentvolumeclaims", "older-pvc");
    assert_eq!(claim["spec"]["resources"]["requests"]["storage"], "1Gi");
    assert_eq!(namespace.get("poddisruptionbudgets", "older-pdb")["spec"]["maxUnavailable"], 1);
}

#[test]
fn one_name_in_two_namespaces_makes_two_of_everything() {
    let namespaces = ["creation-twin-a", "creation-twin-b"].map(|name| world().namespace(name));
    for namespace in &namespaces {
        namespace.resource("llamastackdistributions", "twin", with_vllm("http://vllm:8000/v1"));
    }
    let uids = namespaces.each_ref().map(|namespace| {
        let ready = namespace.ready("twin");
        assert_eq!(generated(namespace, "twin").len(), 1);
        assert!(is_owned(&namespace.get("deployments", "twin"), &ready));
        ready["metadata"]["uid"].clone()
    });
    assert_ne!(uids[0], uids[1]);
}

#[test]
fn a_name_that_is_too_long_is_refused_early() {
    let namespace = world().namespace("creation-names");
    let object = |name: &str| {
        json!({
            "apiVersion": "llamastack.io/v1alpha2",
            "kind": "LlamaStackDistribution",
            "metadata": {"name": name},
            "spec": minimal(),
        })
    };
    assert!(namespace.try_post("llamastackdistributions", &object(&"n".repeat(48))).accepted());
    for (name, reason) in [("n".repeat(49), "48"), ("with.dot".to_owned(), "must not contain dots")] {
        let answer = namespace.try_post("llamastackdistributions", &object(&name));
        assert!(!answer.accepted(), "{name}");
        assert!(answer.message().contains(reason), "{}", answer.message());
    }
    namespace.ready(&"n".repeat(48));
}
