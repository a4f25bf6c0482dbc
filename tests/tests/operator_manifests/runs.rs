//! What `kubectl apply -k` installs is enough to run with: the operator works as the installed service account, with
//! exactly its roles.

use crate::operator_manifests::repository;
use llsd_operator::rbac::{NAMESPACE, PREFIX};
use llsd_tests::cluster::{Cluster, Request};
use llsd_tests::operator::{Operator, free_address, kubectl, wait_until};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

#[test]
fn the_operator_works_as_the_installed_account() {
    let cluster = Cluster::with_controllers();
    let overlay = repository("operator/deploy/overlays/kubernetes");
    let overlay = overlay.to_str().expect("a path");
    kubectl(&cluster, &["apply", "--server-side", "-k", overlay], "").expect("the installation");
    // OpenShift's role, so that its part of the roles is needed too.
    let scc = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "system:openshift:scc:anyuid"},
        "rules": [{
            "apiGroups": ["security.openshift.io"],
            "resources": ["securitycontextconstraints"],
            "resourceNames": ["anyuid"],
            "verbs": ["use"],
        }],
    });
    kubectl(&cluster, &["create", "-f", "-"], &scc.to_string()).expect("a role");
    let flags = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "llama-stack-operator-config", "namespace": NAMESPACE},
        "data": {"featureFlags": "enableNetworkPolicy:\n    enabled: true\n"},
    });
    kubectl(&cluster, &["create", "-f", "-"], &flags.to_string()).expect("a ConfigMap");

    let kubeconfig = account(&cluster);
    let bind = free_address();
    let arguments = [
        "--leader-elect".to_owned(),
        format!("--webhook-bind-address={bind}"),
        format!("--webhook-url=https://{bind}"),
    ];
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let kubeconfig = kubeconfig.to_str().expect("a path");
    let mut operator = Operator::start_with(&cluster, NAMESPACE, &arguments, &[("KUBECONFIG", kubeconfig)]);
    operator.wait_ready();

    kubectl(&cluster, &["create", "namespace", "team"], "").expect("a namespace");
    let secret = json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "postgres", "namespace": "team"},
        "stringData": {"url": "postgresql://llama:secret@pg:5432/stack"},
    });
    kubectl(&cluster, &["create", "-f", "-"], &secret.to_string()).expect("a Secret");
    let resource = json!({
        "apiVersion": "llamastack.io/v1alpha2",
        "kind": "LlamaStackDistribution",
        "metadata": {"name": "all", "namespace": "team"},
        "spec": {
            "distribution": {"name": "starter"},
            "storage": {"sql": {
                "type": "postgres",
                "connectionString": {"secretKeyRef": {"name": "postgres", "key": "url"}},
            }},
            "networking": {"expose": {}},
            "workload": {"replicas": 2, "storage": {}, "autoscaling": {"maxReplicas": 3}},
        },
    });
    wait_until("the resource is taken", || kubectl(&cluster, &["apply", "-f", "-"], &resource.to_string()).is_ok());
    // One child of every kind.
    for path in [
        "/apis/apps/v1/namespaces/team/deployments/all",
        "/api/v1/namespaces/team/services/all-service",
        "/api/v1/namespaces/team/serviceaccounts/all-sa",
        "/api/v1/namespaces/team/persistentvolumeclaims/all-pvc",
        "/api/v1/namespaces/team/secrets/all-storage-sql",
        "/apis/networking.k8s.io/v1/namespaces/team/networkpolicies/all-network-policy",
        "/apis/networking.k8s.io/v1/namespaces/team/ingresses/all-ingress",
        "/apis/autoscaling/v2/namespaces/team/horizontalpodautoscalers/all-hpa",
        "/apis/policy/v1/namespaces/team/poddisruptionbudgets/all-pdb",
        "/apis/rbac.authorization.k8s.io/v1/namespaces/team/rolebindings/all-rb",
    ] {
        wait_until(&format!("{path}\n{}", operator.log()), || cluster.send(Request::get(path)).accepted());
    }
    wait_until("there is a status", || {
        let path = "/apis/llamastack.io/v1alpha2/namespaces/team/llamastackdistributions/all";
        cluster.send(Request::get(path)).body["status"]["phase"].is_string()
    });
    // And they go again when they are not wanted.
    let less = json!({"spec": {"networking": null, "workload": null, "storage": null}});
    let change = ["patch", "llsd", "all", "-n", "team", "--type=merge", "-p", &less.to_string()];
    kubectl(&cluster, &change, "").expect("a change");
    for path in [
        "/apis/networking.k8s.io/v1/namespaces/team/ingresses/all-ingress",
        "/apis/autoscaling/v2/namespaces/team/horizontalpodautoscalers/all-hpa",
        "/apis/policy/v1/namespaces/team/poddisruptionbudgets/all-pdb",
        "/api/v1/namespaces/team/secrets/all-storage-sql",
    ] {
        wait_until(path, || cluster.send(Request::get(path)).status == 404);
    }
    let lease = format!("/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases/54e06e98.llamastack.io");
    assert!(cluster.send(Request::get(lease)).body["spec"]["holderIdentity"].is_string());
    let ended = operator.terminate();
    let log = operator.log();
    assert!(ended.success(), "{ended}: {log}");
    for word in ["orbidden", "cannot "] {
        assert!(!log.contains(word), "{log}");
    }
}

/// A kubeconfig of the operator's service account.
fn account(cluster: &Cluster) -> PathBuf {
    let name = format!("{PREFIX}-controller-manager");
    let token = kubectl(cluster, &["-n", NAMESPACE, "create", "token", &name], "").expect("a token");
    let admin = fs::read_to_string(cluster.folder().join("kubeconfig")).expect("the kubeconfig");
    let mut config: Value = serde_yaml::from_str(&admin).expect("YAML");
    config["users"][0]["user"] = json!({"token": token.trim()});
    let path = cluster.folder().join("account.kubeconfig");
    fs::write(&path, config.to_string()).expect("a file");
    path
}
