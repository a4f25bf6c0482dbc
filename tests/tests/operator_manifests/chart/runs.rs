//! The chart on a real API server: installed, run with exactly its roles, upgraded, uninstalled, installed again.

use super::{chart, helm};
use crate::operator_manifests::installed::{Installed, apply, documents, rendered};
use crate::operator_manifests::repository;
use crate::operator_manifests::runs::{works, works_for_ogx};
use llsd_operator::rbac::{NAMESPACE, PREFIX, WEBHOOK_SERVICE};
use llsd_operator::webhooks::CONVERT_PATH;
use llsd_tests::cluster::{CRDS, Cluster, Request};
use llsd_tests::operator::{kubectl, wait_until};
use serde_json::{Value, json};

/// The chart in a cluster, under one name in one namespace.
struct Release {
    namespace: &'static str,
    kubeconfig: String,
    cache: String,
}

impl Release {
    fn new(cluster: &Cluster, namespace: &'static str) -> Self {
        let path = |name: &str| cluster.folder().join(name).to_str().expect("a path").to_owned();
        Self { namespace, kubeconfig: path("kubeconfig"), cache: path("helm") }
    }

    /// Runs helm as the administrator of the cluster.
    fn helm(&self, arguments: &[&str]) -> String {
        let cluster = ["--kubeconfig", &self.kubeconfig, "--repository-cache", &self.cache, "-n", self.namespace];
        helm(&[arguments, &cluster[..]].concat()).unwrap_or_else(|error| panic!("{arguments:?}: {error}"))
    }

    fn install(&self, flags: &[&str]) {
        self.helm(&[&["install", "llsd", &chart(), "--create-namespace"], flags].concat());
    }

    fn upgrade(&self, flags: &[&str]) {
        self.helm(&[&["upgrade", "llsd", &chart()], flags].concat());
    }

    /// The objects that helm says it has installed.
    fn objects(&self) -> Vec<Value> {
        documents(&self.helm(&["get", "manifest", "llsd"]))
    }
}

/// A resource that lasts, with a running operator.
fn keep(installed: &Installed, name: &str, namespace: &str) {
    let resource = json!({
        "apiVersion": "llamastack.io/v1alpha2",
        "kind": "LlamaStackDistribution",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"distribution": {"name": "starter"}},
    });
    wait_until("the resource is taken", || {
        kubectl(&installed.cluster, &["apply", "-f", "-"], &resource.to_string()).is_ok()
    });
    has_server(&installed.cluster, name, namespace);
}

fn has_server(cluster: &Cluster, name: &str, namespace: &str) {
    let path = format!("/apis/apps/v1/namespaces/{namespace}/deployments/{name}");
    wait_until(&path, || cluster.send(Request::get(&path)).accepted());
}

fn resource(name: &str, namespace: &str) -> Request {
    Request::get(format!("/apis/llamastack.io/v1alpha2/namespaces/{namespace}/llamastackdistributions/{name}"))
}

fn manager() -> Request {
    Request::get(format!("/apis/apps/v1/namespaces/{NAMESPACE}/deployments/{PREFIX}-controller-manager"))
}

fn definition() -> Request {
    Request::get(format!("{CRDS}/llamastackdistributions.llamastack.io"))
}

/// Leads the API server back to the Service, as it is where the operator runs in a pod: here it was an address of loopback.
fn lead_to_the_service(cluster: &Cluster) {
    let service = json!({"name": WEBHOOK_SERVICE, "namespace": NAMESPACE, "path": CONVERT_PATH});
    let client = json!({"url": null, "service": service});
    let patch = json!({"spec": {"conversion": {"webhook": {"clientConfig": client}}}}).to_string();
    let crd = "llamastackdistributions.llamastack.io";
    kubectl(cluster, &["patch", "crd", crd, "--type=merge", "-p", &patch], "").expect("the definition takes it");
    let name = format!("{PREFIX}-validating-webhook-configuration");
    kubectl(cluster, &["delete", "validatingwebhookconfiguration", &name], "").expect("it goes");
}

#[test]
fn is_installed_upgraded_uninstalled_and_installed_again() {
    let cluster = Cluster::with_controllers();
    let release = Release::new(&cluster, NAMESPACE);
    release.install(&[]);
    let installed = Installed::there(cluster, release.objects());
    assert_eq!(installed.namespace, NAMESPACE);
    works(&installed, "team");

    let mut operator = installed.start();
    keep(&installed, "kept", "team");
    assert!(operator.terminate().success(), "{}", operator.log());
    let cluster = &installed.cluster;
    lead_to_the_service(cluster);
    let trusted = |definition: Value| definition["spec"]["conversion"]["webhook"]["clientConfig"]["caBundle"].clone();
    let before = trusted(cluster.send(definition()).body);
    assert!(before.is_string());
    release.upgrade(&["--set=replicas=3"]);
    assert_eq!(cluster.send(manager()).body["spec"]["replicas"], 3);
    assert_eq!(trusted(cluster.send(definition()).body), before, "an upgrade takes the authority away");

    release.helm(&["uninstall", "llsd"]);
    wait_until("the operator is gone", || cluster.send(manager()).status == 404);
    assert!(cluster.send(definition()).accepted(), "the definition is gone");
    assert!(cluster.send(resource("kept", "team")).accepted(), "the resource is gone");
    has_server(cluster, "kept", "team");
    let refused = kubectl(cluster, &["delete", "crd", "llamastackdistributions.llamastack.io"], "");
    assert!(refused.as_ref().is_err_and(|error| error.contains("deletes every LlamaStackDistribution")), "{refused:?}");

    release.install(&[]);
    let mut operator = installed.start();
    keep(&installed, "later", "team");
    assert!(operator.terminate().success(), "{}", operator.log());
}

/// With a Role alone, and with a resource of its own, which outlives it.
#[test]
fn works_for_one_namespace_with_an_instance() {
    let cluster = Cluster::with_controllers();
    apply(&cluster, &rendered(&repository("operator/deploy/crd")));
    let release = Release::new(&cluster, "team");
    release.install(&["--set=scope=namespace"]);
    let installed = Installed::there(cluster, release.objects());
    for object in &installed.objects {
        assert_eq!(object["metadata"]["namespace"], "team", "{object}");
    }
    works(&installed, "team");

    let mut operator = installed.start();
    release.upgrade(&["--set=scope=namespace", "--set=instance.enabled=true"]);
    has_server(&installed.cluster, "default", "team");
    assert!(operator.terminate().success(), "{}", operator.log());
    release.helm(&["uninstall", "llsd"]);
    assert!(installed.cluster.send(resource("default", "team")).accepted(), "the resource is gone");
    has_server(&installed.cluster, "default", "team");
}

#[test]
fn serves_ogx_in_one_namespace() {
    let cluster = Cluster::with_controllers();
    let mut definitions = rendered(&repository("operator/deploy/crd"));
    definitions.push(llsd_generator::ogx::crd::definition());
    apply(&cluster, &definitions);
    let release = Release::new(&cluster, "team");
    release.install(&["--set=scope=namespace", "--set=ogx.enabled=true"]);
    let installed = Installed::there(cluster, release.objects());
    for object in &installed.objects {
        assert_eq!(object["metadata"]["namespace"], "team", "{object}");
    }
    works_for_ogx(&installed);
}

/// What `kubectl apply` has installed, helm takes over.
#[test]
fn takes_over_what_was_applied() {
    let cluster = Cluster::own();
    let path = repository("release/operator.yaml");
    let path = path.to_str().expect("a path");
    kubectl(&cluster, &["apply", "--server-side", "-f", path], "").expect("it is applied");
    let release = Release::new(&cluster, NAMESPACE);
    release.install(&["--take-ownership", "--set=replicas=1"]);
    assert_eq!(cluster.send(manager()).body["spec"]["replicas"], 1);
}
