//! What others can reach of an installed operator, and what goes when it is uninstalled.

use super::installed::{Installed, overlay};
use crate::operator_manifests::repository;
use llsd_tests::cluster::Request;
use llsd_tests::operator::{Operator, kubectl, wait_until};
use serde_json::json;
use std::process::Command;

/// The metrics, as one reads them who has this token: what was answered, or the refusal.
fn scrape(operator: &Operator, token: &str) -> Result<String, String> {
    // kubectl shows its own words in place of a refusal's body.
    let output = Command::new("curl")
        .args(["--silent", "--insecure", "--noproxy", "*", "--fail-with-body", "--max-time", "30"])
        .args(["--header", &format!("Authorization: Bearer {token}")])
        .arg(format!("https://{}/metrics", operator.metrics_address()))
        .output()
        .expect("curl runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() { Ok(text) } else { Err(text) }
}

#[test]
fn metrics_are_for_those_whom_the_api_server_lets_read_them() {
    let installed = Installed::new(&overlay("kubernetes"), &[]);
    let operator = installed.start();
    let cluster = &installed.cluster;
    assert_eq!(operator.metrics(), "", "nothing is told in plain text");
    kubectl(cluster, &["create", "serviceaccount", "prometheus"], "").expect("an account");
    let token = kubectl(cluster, &["create", "token", "prometheus"], "").expect("a token");
    let stranger = scrape(&operator, "no-token-of-this-cluster");
    assert!(stranger.as_ref().is_err_and(|error| error.contains("does not know this token")), "{stranger:?}");
    let refused = scrape(&operator, token.trim());
    assert!(refused.as_ref().is_err_and(|error| error.contains("bind it to a ClusterRole")), "{refused:?}");
    let bind = [
        "create",
        "clusterrolebinding",
        "prometheus",
        "--clusterrole=llama-stack-k8s-operator-metrics-reader",
        "--serviceaccount=default:prometheus",
    ];
    kubectl(cluster, &bind, "").expect("a binding");
    wait_until("the reader is let in", || {
        scrape(&operator, token.trim()).is_ok_and(|text| text.contains("llsd_operator_leader"))
    });
}

/// Neither way to uninstall takes a volume; only the word for it does.
#[test]
fn volumes_outlive_the_operator() {
    let installed = Installed::new(&overlay("kubernetes"), &[]);
    let cluster = &installed.cluster;
    let mut operator = installed.start();
    let resource = json!({
        "apiVersion": "llamastack.io/v1alpha2",
        "kind": "LlamaStackDistribution",
        "metadata": {"name": "kept", "namespace": "default"},
        "spec": {"distribution": {"name": "starter"}, "workload": {"storage": {}}},
    });
    wait_until("the resource is taken", || kubectl(cluster, &["apply", "-f", "-"], &resource.to_string()).is_ok());
    let claim = "/api/v1/namespaces/default/persistentvolumeclaims/kept-pvc";
    wait_until("there is a claim", || cluster.send(Request::get(claim)).accepted());
    operator.terminate();
    let is_whole = || {
        let stored = "/apis/llamastack.io/v1alpha2/namespaces/default/llamastackdistributions/kept";
        let (resource, claim) = (cluster.send(Request::get(stored)), cluster.send(Request::get(claim)));
        assert!(resource.accepted() && claim.accepted(), "{} {}", resource.message(), claim.message());
        assert_eq!(claim.body["metadata"]["deletionTimestamp"], json!(null));
    };

    let folder = |path: &str| repository(path).to_str().expect("a path").to_owned();
    let delete = |path: &str| kubectl(cluster, &["delete", "--ignore-not-found", "-k", &folder(path)], "");
    delete("operator/deploy/uninstall/kubernetes").expect("the operator goes");
    is_whole();
    let account = kubectl(cluster, &["get", "clusterrole,clusterrolebinding,deployment", "-A", "-o", "name"], "");
    assert!(!account.expect("a list").contains("llama-stack-k8s-operator-"), "something is left of the operator");

    let refused = delete("operator/deploy/overlays/kubernetes").expect_err("the definition stays");
    assert!(refused.contains("deletes every LlamaStackDistribution"), "{refused}");
    is_whole();

    // A guard that was deleted with the rest is gone: that the word is needed shows only while it is there.
    let crd = ["crd", "llamastackdistributions.llamastack.io"];
    kubectl(cluster, &[&["annotate"], &crd[..], &["llamastack.io/delete-everything=true"]].concat(), "")
        .expect("the word");
    kubectl(cluster, &[&["delete"], &crd[..]].concat(), "").expect("the definition goes");
    // What was owned by a resource of a kind that is gone is the garbage collector's, which takes its time.
    wait_until("the resources go, too", || {
        let stored = "/apis/llamastack.io/v1alpha2/namespaces/default/llamastackdistributions/kept";
        cluster.send(Request::get(stored)).status == 404
    });
}
