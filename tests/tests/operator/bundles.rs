//! Certificate authorities: the user's and those of Open Data Hub.

use crate::operator::setup::{is_owned, messages, minimal, variable, volume, world};
use serde_json::{Value, json};
use std::fs;

/// A certificate: the API server's own.
fn certificate() -> String {
    fs::read_to_string(world().cluster.folder().join("pki/apiserver.crt")).unwrap()
}

fn with_bundle(name: &str) -> Value {
    let mut spec = minimal();
    spec["networking"] = json!({"tls": {"caBundle": {"configMapName": name}}});
    spec
}

#[test]
fn certificates_are_copied_and_nothing_else_is() {
    let namespace = world().namespace("bundle-explicit");
    let key = "-----BEGIN PRIVATE KEY-----\nTUlJRQ==\n-----END PRIVATE KEY-----\n";
    namespace.config_map("mine", json!({"ca-bundle.crt": format!("words\n{}{key}", certificate())}));
    let created = namespace.resource("llamastackdistributions", "explicit", with_bundle("mine"));
    namespace.ready("explicit");
    let bundle = namespace.get("configmaps", "explicit-ca-bundle");
    assert!(is_owned(&bundle, &created));
    let text = bundle["data"]["ca-bundle.crt"].as_str().unwrap();
    assert!(text.contains("BEGIN CERTIFICATE") && !text.contains("PRIVATE KEY") && !text.contains("words"), "{text}");
    let deployment = namespace.get("deployments", "explicit");
    assert_eq!(volume(&deployment, "ca-bundle")["configMap"]["name"], "explicit-ca-bundle");
    assert_eq!(variable(&deployment, "SSL_CERT_FILE")["value"], "/etc/ssl/certs/ca-bundle/ca-bundle.crt");

    namespace.change("explicit", json!({"networking": null}));
    namespace.gone("configmaps", "explicit-ca-bundle");
    let deployment = namespace.get("deployments", "explicit");
    assert!(volume(&deployment, "ca-bundle").is_null() && variable(&deployment, "SSL_CERT_FILE").is_null());
    assert!(namespace.try_get("configmaps", "mine").is_some());
}

#[test]
fn the_bundle_of_open_data_hub_is_found_and_followed() {
    let namespace = world().namespace("bundle-odh");
    namespace.config_map("odh-trusted-ca-bundle", json!({"ca-bundle.crt": "  \n", "odh-ca-bundle.crt": ""}));
    let created = namespace.resource("llamastackdistributions", "found", minimal());
    namespace.ready("found");
    let deployment = namespace.get("deployments", "found");
    assert!(volume(&deployment, "ca-bundle").is_null(), "white space is no certificate");

    namespace.merge("configmaps", "odh-trusted-ca-bundle", &json!({"data": {"odh-ca-bundle.crt": certificate()}}));
    let after = namespace.wait("deployments", "found", "trusts it", |now| !volume(now, "ca-bundle").is_null());
    assert_eq!(after["metadata"]["generation"], 2);
    assert!(is_owned(&namespace.get("configmaps", "found-ca-bundle"), &created));
    namespace.ready("found");
    let two = format!("{}{}", certificate(), certificate());
    namespace.merge("configmaps", "odh-trusted-ca-bundle", &json!({"data": {"ca-bundle.crt": two}}));
    namespace.wait("deployments", "found", "restarts with more of them", |now| now["metadata"]["generation"] == 3);
    namespace.delete("configmaps", "odh-trusted-ca-bundle");
    namespace.gone("configmaps", "found-ca-bundle");
    namespace.ready("found");
}

#[test]
fn what_is_wrong_with_a_bundle_is_told() {
    let namespace = world().namespace("bundle-wrong");
    namespace.resource("llamastackdistributions", "wrong", with_bundle("mine"));
    let failed = |text: &str| {
        let text = format!("Resource reconciliation failed: {text}");
        namespace.wait_for("wrong", &text, |object| messages(object).contains(&text));
    };
    failed("failed to find referenced CA bundle ConfigMap bundle-wrong/mine");
    namespace.config_map("mine", json!({"other": ""}));
    failed("failed to find CA bundle key 'ca-bundle.crt' in ConfigMap bundle-wrong/mine");
    namespace.merge("configmaps", "mine", &json!({"data": {"ca-bundle.crt": "no certificate"}}));
    failed("failed to find valid certificates in CA bundle key 'ca-bundle.crt'");
    namespace.merge("configmaps", "mine", &json!({"data": {"ca-bundle.crt": certificate()}}));
    namespace.ready("wrong");
    // A bundle that breaks later does not take the running one away.
    namespace.merge("configmaps", "mine", &json!({"data": {"ca-bundle.crt": "broken"}}));
    failed("failed to find valid certificates in CA bundle key 'ca-bundle.crt'");
    assert!(
        namespace.get("configmaps", "wrong-ca-bundle")["data"]["ca-bundle.crt"].as_str().unwrap().contains("BEGIN")
    );
}

#[test]
fn certificates_of_another_namespace_need_its_consent() {
    let (namespace, other) = (world().namespace("bundle-mine"), world().namespace("bundle-theirs"));
    other.config_map("theirs", json!({"ca-bundle.crt": certificate()}));
    let mut spec = with_bundle("theirs");
    spec["networking"]["tls"]["caBundle"]["configMapNamespace"] = json!("bundle-theirs");
    namespace.resource("llamastackdistributions", "uses", spec.clone());
    let of = |name: &str| {
        let failed = namespace.wait_for(name, "is refused", |object| object["status"]["phase"] == "Failed");
        messages(&failed).replace(name, "NAME")
    };
    // One that does not exist is told in the same words.
    spec["networking"]["tls"]["caBundle"]["configMapName"] = json!("missing");
    namespace.resource("llamastackdistributions", "guesses", spec);
    let (refused, guessed) = (of("uses"), of("guesses"));
    assert!(refused.contains("is used only if"), "{refused}");
    assert_eq!(refused.replace("theirs/theirs", "X"), guessed.replace("theirs/missing", "X"));
    other.merge("configmaps", "theirs", &json!({"metadata": {"labels": {"llamastack.io/watch": "true"}}}));
    namespace.ready("uses");
}

#[test]
fn a_configmap_of_the_user_by_that_name_is_left_alone() {
    let namespace = world().namespace("bundle-foreign");
    let theirs = namespace.config_map("foreign-ca-bundle", json!({"ca-bundle.crt": "mine"}));
    namespace.resource("llamastackdistributions", "foreign", minimal());
    namespace.ready("foreign");
    namespace.config_map("mine", json!({"ca-bundle.crt": certificate()}));
    namespace.change("foreign", with_bundle("mine"));
    namespace.wait_for("foreign", "tells about it", |object| messages(object).contains("foreign-ca-bundle"));
    namespace.change("foreign", json!({"networking": null}));
    namespace.ready("foreign");
    let now = namespace.get("configmaps", "foreign-ca-bundle");
    assert_eq!(now["metadata"]["resourceVersion"], theirs["metadata"]["resourceVersion"]);
}
