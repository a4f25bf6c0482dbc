//! The operator is installed by `kubectl apply -k`.

use super::installed::{find, overlay, rendered as kustomize};
use crate::operator_manifests::repository;
use llsd_operator::metrics::{End, Metrics};
use llsd_operator::queue::Queue;
use llsd_operator::rbac::{NAMESPACE, PREFIX, WEBHOOK_CONFIGURATION, WEBHOOK_SERVICE};
use llsd_operator::served::{LLAMA_STACK, OGX};
use llsd_operator::webhooks::{CONVERT_PATH, SECRET_NAME, VALIDATE_PATH, WEBHOOK_NAME};
use llsd_tests::cluster::{Cluster, Request};
use serde_json::Value;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

const CRD: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/llamastackdistributions.llamastack.io";

fn kubectl() -> Command {
    let built = Command::new(repository("tests/cluster/build.sh")).output().expect("build.sh");
    assert!(built.status.success());
    Command::new(PathBuf::from(String::from_utf8_lossy(&built.stdout).trim()).join("kubectl"))
}

/// What kustomize makes of an overlay.
fn rendered(name: &str) -> Vec<Value> {
    kustomize(&overlay(name))
}

fn run(mut command: Command) -> String {
    let output = command.stdin(Stdio::null()).output().expect("kubectl");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// On a cluster with what the Go operator's manifest had installed there, as far as names and selectors go.
#[test]
fn is_installed_over_the_go_operator_and_again() {
    let cluster = Cluster::own();
    let with_cluster = |command: &mut Command| {
        command.arg("--kubeconfig").arg(cluster.folder().join("kubeconfig"));
    };
    let mut before = kubectl();
    with_cluster(&mut before);
    before.args(["apply", "-f"]).arg(repository("tests/tests/operator_manifests/go-install.yaml"));
    run(before);

    let apply = |from: &str, path: PathBuf| {
        let mut command = kubectl();
        with_cluster(&mut command);
        command.args(["apply", "--server-side", "--force-conflicts", from]).arg(path);
        run(command)
    };
    let first = apply("-k", overlay("kubernetes"));
    assert!(
        first.contains("deployment.apps/llama-stack-k8s-operator-controller-manager serverside-applied"),
        "{first}"
    );
    apply("-f", repository("release/operator.yaml"));

    let path = format!("/apis/apps/v1/namespaces/{NAMESPACE}/deployments/{PREFIX}-controller-manager");
    let deployment = cluster.send(Request::get(path)).body;
    assert_eq!(deployment["spec"]["replicas"], 2);
    let containers = deployment["spec"]["template"]["spec"]["containers"].as_array().expect("containers");
    assert_eq!(containers.len(), 1, "a container is left of the operator before");
    assert_eq!(containers[0]["command"][0], "/llsd-operator");

    let crd = cluster.send(Request::get(CRD)).body;
    let service = &crd["spec"]["conversion"]["webhook"]["clientConfig"]["service"];
    assert_eq!(service["name"], WEBHOOK_SERVICE);
    assert_eq!(service["path"], CONVERT_PATH);
    let versions: Vec<_> = crd["spec"]["versions"].as_array().expect("versions").iter().collect();
    assert!(versions.iter().any(|version| version["name"] == "v1alpha2" && version["storage"] == true));
}

/// What is applied by its URL is what the overlay says. `UPDATE_EXPECT=1` writes it again.
#[test]
fn the_released_file_is_the_overlay() {
    let mut script = Command::new(repository("release/operator.sh"));
    script.env("KUBECTL", kubectl().get_program());
    let expected = run(script);
    let path = repository("release/operator.yaml");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(path, expected).expect("a file");
    } else {
        let found = std::fs::read_to_string(path).expect("release/operator.yaml");
        assert!(found == expected, "release/operator.yaml is not what the overlay says: `make crd` writes it again");
    }
}

#[test]
fn names_are_those_of_the_code() {
    let objects = rendered("kubernetes");
    let webhook = &find(&objects, "ValidatingWebhookConfiguration", WEBHOOK_CONFIGURATION)["webhooks"][0];
    assert_eq!(webhook["name"], WEBHOOK_NAME);
    assert_eq!(webhook["clientConfig"]["service"]["name"], WEBHOOK_SERVICE);
    assert_eq!(webhook["clientConfig"]["service"]["namespace"], NAMESPACE);
    assert_eq!(webhook["clientConfig"]["service"]["path"], VALIDATE_PATH);
    find(&objects, "Service", WEBHOOK_SERVICE);
    let manager = find(&objects, "Deployment", &format!("{PREFIX}-controller-manager"));
    let container = &manager["spec"]["template"]["spec"]["containers"][0];
    let image = container["image"].as_str().expect("an image");
    assert!(image.ends_with(concat!(":", env!("CARGO_PKG_VERSION"))), "{image} is another version");
    let variables = container["env"].as_array().expect("variables");
    assert!(variables.iter().any(|variable| variable["name"] == "OPERATOR_IMAGE" && variable["value"] == image));
}

/// An alert on a metric that nobody writes would never be raised.
#[test]
fn alerts_ask_for_metrics_that_there_are() {
    let metrics = Metrics::default();
    for served in [&LLAMA_STACK, &OGX] {
        // What is counted by its end is told as soon as there is one.
        metrics.reconciled(served, End::Failed, Duration::from_secs(1));
        metrics.follow(served, Queue::default());
    }
    let told = metrics.text();
    let name = regex::Regex::new("llsd_operator_[a-z_]+").expect("a pattern");
    let by = regex::Regex::new(r"by \(([a-z]+)\)").expect("a pattern");
    let spoken = regex::Regex::new(r"\$labels\.([a-z]+)").expect("a pattern");
    let label = regex::Regex::new(r#"[a-z]+="[^"]*""#).expect("a pattern");
    let objects = kustomize(&repository("operator/deploy/components/monitoring"));
    let rules = find(&objects, "PrometheusRule", &format!("{PREFIX}-controller-manager-alerts"));
    let rules = rules["spec"]["groups"][0]["rules"].as_array().expect("rules");
    assert!(!rules.is_empty());
    for rule in rules {
        let expression = rule["expr"].as_str().expect("an expression");
        let asked: Vec<_> = name.find_iter(expression).map(|found| found.as_str()).collect();
        assert!(!asked.is_empty(), "{expression}");
        let kept = by.captures(expression).map(|found| found[1].to_owned());
        let summary = rule["annotations"]["summary"].as_str().expect("a summary");
        for label in spoken.captures_iter(summary) {
            assert_eq!(kept.as_deref(), Some(&label[1]), "{expression} leaves no such label for: {summary}");
        }
        for (metric, kind) in asked.iter().flat_map(|metric| kept.iter().map(move |label| (metric, label))) {
            for served in [&LLAMA_STACK, &OGX] {
                let of_it = format!("{metric}{{{kind}=\"{}\"", served.kind().name());
                assert!(told.contains(&of_it), "{of_it} is not in\n{told}");
            }
        }
        for metric in asked {
            let is_it = |line: &str| line.strip_prefix(metric).is_some_and(|rest| rest.starts_with([' ', '{']));
            assert!(told.lines().any(is_it), "{metric} is not in\n{told}");
        }
        for label in label.find_iter(expression) {
            assert!(told.contains(label.as_str()), "{} is not in\n{told}", label.as_str());
        }
    }
}

/// The service of another mounts the certificate, and then the operator needs no right to make one.
#[test]
fn overlays_with_a_mounted_certificate_have_fewer_rights() {
    for (name, mark) in
        [("cert-manager", "cert-manager.io/inject-ca-from"), ("openshift", "service.beta.openshift.io/inject-cabundle")]
    {
        let objects = rendered(name);
        assert!(!objects.iter().any(|object| {
            object["metadata"]["name"].as_str().is_some_and(|name| name.contains("webhook-certificate"))
        }));
        let crd = find(&objects, "CustomResourceDefinition", "llamastackdistributions.llamastack.io");
        let webhooks = find(&objects, "ValidatingWebhookConfiguration", WEBHOOK_CONFIGURATION);
        for object in [crd, webhooks] {
            assert!(object["metadata"]["annotations"][mark].is_string(), "{name}");
        }
        let manager = find(&objects, "Deployment", &format!("{PREFIX}-controller-manager"));
        assert_eq!(manager["spec"]["template"]["spec"]["volumes"][0]["secret"]["secretName"], SECRET_NAME);
        let arguments = &manager["spec"]["template"]["spec"]["containers"][0]["args"];
        assert!(arguments.to_string().contains("--webhook-cert-dir="), "{arguments}");
    }
}

/// What the cluster knows of these overlays it takes; the kinds of cert-manager are not installed here.
#[test]
fn the_other_overlays_are_accepted_where_their_kinds_exist() {
    let cluster = Cluster::own();
    for name in ["cert-manager", "openshift"] {
        let mut namespace = kubectl();
        namespace.arg("--kubeconfig").arg(cluster.folder().join("kubeconfig"));
        namespace.args(["apply", "-f"]).arg(repository("operator/deploy/base/namespace.yaml"));
        run(namespace);
        let known: Vec<_> = rendered(name)
            .into_iter()
            .filter(|object| {
                !object["apiVersion"].as_str().is_some_and(|version| version.starts_with("cert-manager.io"))
            })
            .map(|object| serde_yaml::to_string(&object).expect("YAML"))
            .collect();
        let file = cluster.folder().join(format!("{name}.yaml"));
        std::fs::write(&file, known.join("---\n")).expect("a file");
        let mut command = kubectl();
        command.arg("--kubeconfig").arg(cluster.folder().join("kubeconfig"));
        command.args(["apply", "--server-side", "--dry-run=server", "--validate=strict", "-f"]).arg(file);
        run(command);
    }
}
