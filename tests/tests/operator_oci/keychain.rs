//! Pull secrets by way of service accounts, from a real API server.

use crate::operator_oci::labels::{CONFIG, credential, encoded};
use crate::operator_oci::registry::{PASSWORD, Server, layer};
use llsd_generator::names::{Namespace, ObjectName};
use llsd_operator::api::Api;
use llsd_operator::lease::Permit;
use llsd_operator::metrics::Metrics;
use llsd_operator::oci::{Keychain, Limits, Registry};
use llsd_operator::served::LLAMA_STACK;
use llsd_tests::cluster::{Cluster, Request};
use serde_json::{Value, json};
use std::sync::Arc;

fn create(kind: &str, body: &Value) {
    let answer = Cluster::shared().send(Request::post(format!("/api/v1/namespaces/default/{kind}"), body));
    assert!(answer.accepted(), "{}", answer.message());
}

fn account(name: &str, secrets: &[&str]) {
    let references: Vec<_> = secrets.iter().map(|name| json!({"name": name})).collect();
    create("serviceaccounts", &json!({"metadata": {"name": name}, "imagePullSecrets": references}));
}

fn secret(name: &str, config: &Value) {
    let body = json!({
        "metadata": {"name": name},
        "type": "kubernetes.io/dockerconfigjson",
        "stringData": {".dockerconfigjson": config.to_string()},
    });
    create("secrets", &body);
}

#[test]
fn the_pods_service_account_comes_first_then_the_default_one() {
    let server = Server::private();
    let place = server.address.to_string();
    let login = |password: &str| json!({"auths": {&place: {"username": "puller", "password": password}}});
    secret("wrong", &login("wrong"));
    secret("right", &login(PASSWORD));
    create("secrets", &json!({"metadata": {"name": "opaque"}, "stringData": {"a": "b"}}));
    account("mine", &["missing", "opaque", "wrong"]);
    account("default", &["right"]);

    let cluster = Cluster::shared();
    let api = Api::new(cluster.client(), Arc::new(Metrics::default()), Permit::default(), &LLAMA_STACK);
    let keychain = Keychain::new(api);
    let namespace = Namespace::parse("default").unwrap();
    let credentials = |account: &str| {
        let account = ObjectName::parse(account).unwrap();
        cluster.runtime().block_on(keychain.credentials(&namespace, &account)).unwrap()
    };
    let (wrong, right) = (credential(&server, "wrong"), credential(&server, PASSWORD));
    assert_eq!(credentials("mine"), [wrong, right.clone()].concat());
    assert_eq!(credentials("default"), right);
    assert_eq!(credentials("nobody"), right);

    let image = cluster.runtime().block_on(async {
        let labels = json!({"io.llamastack.config.base64": encoded(CONFIG)});
        server.push("private:1", labels, vec![layer(&[("a", b"x")], true)]).await.0
    });
    let registry = Registry::new(Limits::default(), server.insecure(), None);
    let found = cluster.runtime().block_on(registry.config(&image, &credentials("mine"))).unwrap().unwrap();
    assert_eq!(found.text, CONFIG);
}
