//! Objects that go through the API server in one version and come out in the other.

use crate::operator_webhooks::hooks::{collection, good, object, read, server};
use crate::operator_webhooks::objects;
use crd_validator::CompiledSchema;
use llsd_generator::api::{ApiVersion, crd};
use llsd_generator::names::is_subdomain;
use llsd_tests::cluster::Request;
use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

/// Objects of each version that are made up and converted.
const OBJECTS: usize = 60;

fn other(version: ApiVersion) -> ApiVersion {
    match version {
        ApiVersion::V1Alpha1 => ApiVersion::V1Alpha2,
        _ => ApiVersion::V1Alpha1,
    }
}

/// Objects as the property tests make them, with names that are free.
fn some(version: ApiVersion, prefix: &str) -> Vec<Value> {
    let mut runner = TestRunner::deterministic();
    let strategy = objects::object(version);
    (0..OBJECTS)
        .map(|number| {
            let mut object = strategy.new_tree(&mut runner).unwrap().current();
            object["metadata"]["name"] = json!(format!("{prefix}-{number}"));
            object["metadata"]["namespace"] = json!("default");
            object["metadata"].as_object_mut().unwrap().remove("generation");
            named(&mut object["spec"]);
            object
        })
        .collect()
}

/// Gives what an object refers to names that objects may have: the admission webhook refuses all others.
fn named(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(named),
        Value::Object(fields) => {
            for (field, value) in fields {
                let refers = field == "name" || field.ends_with("Name") || field.ends_with("Namespace");
                match value {
                    Value::String(text) if refers && !is_subdomain(text) => "named".clone_into(text),
                    other => named(other),
                }
            }
        }
        _ => {}
    }
}

/// What a user sees of an object.
fn visible(object: &Value) -> Value {
    json!({
        "annotations": object["metadata"].get("annotations").cloned().unwrap_or(json!({})),
        "labels": object["metadata"].get("labels").cloned().unwrap_or(json!({})),
        "spec": object["spec"],
        "status": object["status"],
    })
}

/// Whether the API server takes the object without our admission webhook, which refuses more than schemas do.
fn survives(version: ApiVersion) {
    let prefix = format!("survives-{}", version.name());
    let schema = CompiledSchema::new(crd::schema(version));
    let mut tried = 0;
    for wanted in some(version, &prefix) {
        let name = wanted["metadata"]["name"].as_str().unwrap();
        let answer = server().send(Request::post(collection(version.name()), &wanted));
        if !answer.accepted() {
            // The objects are valid by the schema; the checks beyond it may still refuse them.
            assert!(answer.message().starts_with("admission webhook"), "{}\n{wanted:#}", answer.message());
            continue;
        }
        tried += 1;
        let mut created = answer.body;
        if !wanted["status"].is_null() {
            created["status"] = wanted["status"].clone();
            let path = format!("{}/{name}/status", collection(version.name()));
            created = good(server().send(Request::put(path, &created)));
        }
        let expected = schema.validate(&wanted, None).defaulted;
        assert_eq!(visible(&created), visible(&expected), "as it was written");

        let there = read(other(version).name(), name);
        assert_eq!(there["apiVersion"], other(version).api_version());
        assert_eq!(there["metadata"]["uid"], created["metadata"]["uid"]);
        // Written back in the other version, as an edit that changes nothing.
        let path = format!("{}/{name}", collection(other(version).name()));
        let again = good(server().send(Request::put(path, &there)));
        assert_eq!(visible(&again), visible(&there), "written in the other version");
        assert_eq!(visible(&read(version.name(), name)), visible(&created), "there and back");
    }
    assert!(tried > OBJECTS / 4, "{tried} of {OBJECTS} objects were taken");
}

#[test]
fn any_v1alpha1_object_survives() {
    survives(ApiVersion::V1Alpha1);
}

#[test]
fn any_v1alpha2_object_survives() {
    survives(ApiVersion::V1Alpha2);
}

#[test]
fn an_edit_in_the_other_version_is_kept() {
    let spec = json!({
        "replicas": 2,
        "server": {
            "distribution": {"name": "starter"},
            "containerSpec": {"name": "mine", "port": 8400},
            "userConfig": {"configMapName": "config", "configMapNamespace": "elsewhere"},
        },
    });
    good(server().send(Request::post(collection("v1alpha1"), &object("v1alpha1", "edited", spec))));
    let mut newer = read("v1alpha2", "edited");
    newer["spec"]["workload"]["replicas"] = json!(3);
    newer["spec"]["overrideConfig"]["configMapName"] = json!("other");
    newer["metadata"]["annotations"]["example.com/mine"] = json!("yes");
    let path = format!("{}/edited", collection("v1alpha2"));
    good(server().send(Request::put(&path, &newer)));
    let older = read("v1alpha1", "edited");
    assert_eq!(older["spec"]["replicas"], 3);
    assert_eq!(older["spec"]["server"]["containerSpec"]["name"], "mine");
    assert_eq!(older["spec"]["server"]["containerSpec"]["port"], 8400);
    assert_eq!(older["spec"]["server"]["userConfig"]["configMapName"], "other");
    assert_eq!(older["metadata"]["annotations"], json!({"example.com/mine": "yes"}));

    // Without the annotation, what it kept is gone, and the rest is untouched.
    let mut newer = read("v1alpha2", "edited");
    newer["metadata"]["annotations"].as_object_mut().unwrap().retain(|key, _| !key.starts_with("llamastack.io/"));
    good(server().send(Request::put(&path, &newer)));
    let older = read("v1alpha1", "edited");
    assert_eq!(older["spec"]["server"]["containerSpec"]["port"], 8400);
    assert_eq!(older["spec"]["server"]["containerSpec"]["name"], "llama-stack");
    assert_eq!(older["metadata"]["annotations"], json!({"example.com/mine": "yes"}));
}

#[test]
fn a_list_is_converted_as_a_whole() {
    let names: Vec<_> = (0..50).map(|number| format!("listed-{number:02}")).collect();
    let creations = names.iter().map(|name| {
        let mut listed = object("v1alpha2", name, json!({"distribution": {"name": "starter"}, "disabled": ["eval"]}));
        listed["metadata"]["labels"] = json!({"test": "listed"});
        Request::post(collection("v1alpha2"), &listed)
    });
    server().send_all(creations.collect()).into_iter().for_each(|answer| drop(good(answer)));
    let list = good(server().send(Request::get(format!("{}?labelSelector=test%3Dlisted", collection("v1alpha1")))));
    let items = list["items"].as_array().unwrap();
    let listed: Vec<_> = items.iter().map(|item| item["metadata"]["name"].as_str().unwrap()).collect();
    assert_eq!(listed, names);
    assert!(items.iter().all(|item| item["spec"]["server"]["distribution"]["name"] == "starter"));
}

#[test]
fn a_huge_object_is_converted() {
    let mut env = Vec::new();
    for number in 0..200 {
        env.push(json!({"name": format!("VARIABLE_{number}"), "value": "x".repeat(4_000)}));
    }
    let spec = json!({"server": {"distribution": {"name": "starter"}, "containerSpec": {"env": env}}});
    good(server().send(Request::post(collection("v1alpha1"), &object("v1alpha1", "huge", spec))));
    let newer = read("v1alpha2", "huge");
    assert_eq!(newer["spec"]["workload"]["overrides"]["env"].as_array().unwrap().len(), 200);
    assert_eq!(read("v1alpha1", "huge")["spec"]["server"]["containerSpec"]["env"].as_array().unwrap().len(), 200);
}

/// The API server refuses annotations of more than 256 KiB in all, and would then serve neither the object nor a list
/// that it is in.
#[test]
fn what_no_annotation_can_carry_spoils_no_list() {
    let env: Vec<_> = (0..2_000).map(|at| json!({"name": format!("V{at}"), "value": "x".repeat(300)})).collect();
    let spec = json!({"server": {"distribution": {"name": "starter"}, "containerSpec": {"env": env}}});
    let answer = server().send(Request::post(collection("v1alpha1"), &object("v1alpha1", "long-list", spec)));
    // Whether it is taken is for the checks to say; that it can be said is what this is about.
    assert!(answer.accepted() || answer.message().starts_with("admission webhook"), "{}", answer.message());

    let settings = json!({"text": "x".repeat(300_000)});
    let provider = json!({"provider": "vllm", "endpoint": "http://x/v1", "settings": settings});
    let spec = json!({"distribution": {"name": "starter"}, "providers": {"inference": [provider]}});
    good(server().send(Request::post(collection("v1alpha2"), &object("v1alpha2", "long-settings", spec))));
    assert_eq!(read("v1alpha1", "long-settings")["spec"]["server"]["distribution"]["name"], "starter");
    good(server().send(Request::get(collection("v1alpha1"))));
    let path = format!("{}/long-settings", collection("v1alpha1"));
    let answer = server().send(Request::merge(&path, &json!({"spec": {"replicas": 2}})));
    assert!(!answer.accepted() && answer.message().contains("Edit it as v1alpha2"), "{}", answer.message());
    // A label is stored with all the rest of what was read, and would lose it, too.
    let answer = server().send(Request::merge(&path, &json!({"metadata": {"labels": {"a": "b"}}})));
    assert!(!answer.accepted() && answer.message().contains("Edit it as v1alpha2"), "{}", answer.message());
    assert_eq!(read("v1alpha2", "long-settings")["spec"]["providers"]["inference"][0]["settings"], settings);
    let path = format!("{}/long-settings", collection("v1alpha2"));
    good(server().send(Request::delete(&path)));
}

/// What anybody may write into the annotations of a resource of his own must not spoil the lists of others.
#[test]
fn an_annotation_spoils_no_list() {
    let spec = json!({"distribution": {"name": "starter"}});
    let texts = [
        json!("too large").to_string(),
        json!([{"path": ["metadata", "name"], "from": "planted", "to": "other"}]).to_string(),
        json!([{"path": ["kind"], "from": "LlamaStackDistribution", "to": "Pod"}]).to_string(),
    ];
    for text in texts {
        let mut planted = object("v1alpha2", "planted", spec.clone());
        planted["metadata"]["annotations"] = json!({"llamastack.io/v1alpha1-fields": text});
        let answer = server().send(Request::post(collection("v1alpha2"), &planted));
        assert!(!answer.accepted(), "{}", answer.message());
        good(server().send(Request::post(collection("v1alpha2"), &object("v1alpha2", "planted", spec.clone()))));
        let path = format!("{}/planted", collection("v1alpha2"));
        let patch = json!({"metadata": {"annotations": {"llamastack.io/v1alpha1-fields": text}}});
        let answer = server().send(Request::merge(&path, &patch));
        assert!(
            !answer.accepted() && answer.message().contains("annotation") || answer.message().contains("only a view"),
            "{}",
            answer.message()
        );
        good(server().send(Request::get(collection("v1alpha1"))));
        good(server().send(Request::delete(&path)));
    }
}
