//! From the Go operator's definition of the resource to ours, back by the documented script, and forth again.

use crate::operator_manifests::repository;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use llsd_generator::api::crd::crd;
use llsd_operator::webhooks::{Certificates, Options, Readiness, serve};
use llsd_test_client::comes_about;
use llsd_tests::cluster::{CRDS, Cluster, Request};
use llsd_tests::operator::free_address;
use serde_json::{Value, json};
use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

const NAME: &str = "llamastackdistributions.llamastack.io";

/// The definition with v1alpha1 alone, as the Go operator installs it.
fn older() -> Value {
    let mut older = crd().clone();
    let versions = older["spec"]["versions"].as_array_mut().expect("versions");
    versions.retain(|version| version["name"] == "v1alpha1");
    versions[0]["storage"] = json!(true);
    older
}

/// Replaces the definition; the API server writes to it at times, too.
fn install(cluster: &Cluster, mut definition: Value) {
    let path = format!("{CRDS}/{NAME}");
    for _ in 0..100 {
        let there = cluster.send(Request::get(&path)).body;
        definition["metadata"]["resourceVersion"] = there["metadata"]["resourceVersion"].clone();
        let answer = cluster.send(Request::put(&path, &definition));
        if answer.status != 409 {
            assert!(answer.accepted(), "{}", answer.message());
            return;
        }
    }
    panic!("{NAME} changes all the time");
}

/// Installs our definition over what is there, converted by this process.
fn upgrade(cluster: &Cluster, url: &str, authority: &str) {
    let mut newer = crd().clone();
    newer["spec"]["conversion"] = json!({
        "strategy": "Webhook",
        "webhook": {
            "conversionReviewVersions": ["v1"],
            "clientConfig": {"url": format!("{url}/convert"), "caBundle": STANDARD.encode(authority)},
        },
    });
    install(cluster, newer);
}

fn collection(version: &str) -> String {
    format!("/apis/llamastack.io/{version}/namespaces/default/llamastackdistributions")
}

fn read(cluster: &Cluster, version: &str, name: &str) -> Value {
    let path = format!("{}/{name}", collection(version));
    let mut answer = cluster.send(Request::get(&path));
    // The API server takes a moment to use a changed definition.
    let readable = comes_about(|| {
        answer = cluster.send(Request::get(&path));
        answer.accepted()
    });
    assert!(readable, "{path}: {} {}", answer.status, answer.message());
    answer.body
}

#[test]
fn resources_survive_the_way_there_back_and_there_again() {
    let cluster = Cluster::own();
    cluster.install_crds(&[older()]).expect("the older definition");
    let old_spec = json!({
        "replicas": 1,
        "server": {"distribution": {"name": "starter"}, "containerSpec": {"name": "server", "port": 80}},
    });
    let object = |version: &str, name: &str, spec: &Value| {
        json!({
            "apiVersion": format!("llamastack.io/{version}"),
            "kind": "LlamaStackDistribution",
            "metadata": {"name": name},
            "spec": spec,
        })
    };
    let answer = cluster.send(Request::post(collection("v1alpha1"), &object("v1alpha1", "old", &old_spec)));
    assert!(answer.accepted(), "{}", answer.message());

    let bind = free_address();
    let url = format!("https://{bind}");
    let made = rcgen::generate_simple_self_signed(vec![bind.ip().to_string()]).expect("a certificate");
    let folder = cluster.folder().join("certificate");
    fs::create_dir(&folder).expect("a folder");
    fs::write(folder.join("tls.crt"), made.cert.pem()).expect("a file");
    fs::write(folder.join("tls.key"), made.signing_key.serialize_pem()).expect("a file");
    // A mounted certificate, because an operator outside of the cluster that makes its own would write the conversion
    // into the definition again as soon as it is gone.
    let options =
        Options { bind, certificates: Certificates::Mounted { folder }, surroundings: None, drain: Duration::ZERO };
    cluster.runtime().spawn(serve(options, Readiness::default(), CancellationToken::new()));
    upgrade(&cluster, &url, &made.cert.pem());
    assert_eq!(read(&cluster, "v1alpha2", "old")["spec"]["distribution"]["name"], "starter");

    let new_spec = json!({
        "distribution": {"name": "starter"},
        "providers": {"inference": [{"provider": "vllm", "endpoint": "http://vllm:8000/v1"}]},
    });
    let answer = cluster.send(Request::post(collection("v1alpha2"), &object("v1alpha2", "new", &new_spec)));
    assert!(answer.accepted(), "{}", answer.message());

    go_back(&cluster);
    // Again: nothing is left to do.
    go_back(&cluster);
    let there = cluster.send(Request::get(format!("{CRDS}/{NAME}"))).body;
    assert_eq!(there["status"]["storedVersions"], json!(["v1alpha1"]));
    assert_eq!(there["spec"]["conversion"]["strategy"], "None");
    assert_eq!(read(&cluster, "v1alpha1", "old")["spec"], old_spec);
    assert_eq!(read(&cluster, "v1alpha1", "new")["spec"]["server"]["distribution"]["name"], "starter");
    // The Go operator's definition now fits.
    install(&cluster, older());

    upgrade(&cluster, &url, &made.cert.pem());
    assert_eq!(read(&cluster, "v1alpha2", "new")["spec"]["providers"], new_spec["providers"]);
    assert_eq!(read(&cluster, "v1alpha1", "old")["spec"], old_spec);
}

fn go_back(cluster: &Cluster) {
    let programs = Command::new(repository("tests/cluster/build.sh")).output().expect("build.sh").stdout;
    let programs = String::from_utf8_lossy(&programs).trim().to_owned();
    let output = Command::new(repository("operator/deploy/go-back.sh"))
        .env("KUBECTL", format!("{programs}/kubectl --kubeconfig {}", cluster.folder().join("kubeconfig").display()))
        .stdin(Stdio::null())
        .output()
        .expect("the script");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
