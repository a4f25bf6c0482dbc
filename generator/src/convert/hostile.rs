//! Annotations that somebody wrote by hand: one object must not spoil the lists that it is in.

use super::*;
use proptest::prelude::*;
use serde_json::json;

fn object(version: ApiVersion, annotations: Value) -> Value {
    let spec = match version {
        ApiVersion::V1Alpha1 => json!({"replicas": 2, "server": {
            "distribution": {"name": "starter"},
            "containerSpec": {"name": "mine", "port": 8400},
            "userConfig": {"configMapName": "config", "configMapNamespace": "shared"},
        }}),
        _ => json!({
            "distribution": {"name": "starter"},
            "providers": {"inference": [{"provider": "vllm", "endpoint": "http://vllm/v1"}]},
            "workload": {"replicas": 2},
        }),
    };
    json!({
        "apiVersion": version.api_version(),
        "kind": KIND,
        "metadata": {
            "name": "a", "namespace": "b", "uid": "7b3c", "generation": 3, "resourceVersion": "12",
            "labels": {"team": "one"}, "annotations": annotations,
        },
        "spec": spec,
    })
}

fn other(version: ApiVersion) -> ApiVersion {
    if version == ApiVersion::V1Alpha1 { ApiVersion::V1Alpha2 } else { ApiVersion::V1Alpha1 }
}

/// What the API server compares after a conversion, and what it refuses to find changed.
fn identity(object: &Value) -> Value {
    let mut metadata = object["metadata"].clone();
    if let Some(fields) = metadata.as_object_mut() {
        fields.shift_remove("annotations");
    }
    json!([object["kind"], metadata])
}

fn assert_is_answered(version: ApiVersion, annotations: &Value) {
    let object = object(version, annotations.clone());
    let there = convert(&object, other(version)).expect("an object of the resource");
    for (converted, wanted) in [(&there, other(version)), (&convert(&there, version).expect("and back"), version)] {
        assert_eq!(converted["apiVersion"], wanted.api_version());
        assert_eq!(identity(converted), identity(&object), "{annotations}");
        let all = &converted["metadata"]["annotations"];
        assert!(all.is_null() || all.as_object().is_some_and(|all| all.values().all(Value::is_string)), "{all}");
        assert!(kept::size_of_annotations(converted) <= ANNOTATIONS);
    }
}

fn entry(path: &[&str], from: Value, to: Value) -> String {
    json!([{"path": path, "from": from, "to": to}]).to_string()
}

#[test]
fn texts_that_could_spoil_a_list() {
    let mut texts = vec![TOO_LARGE.to_owned(), "[]".to_owned(), "{".to_owned(), "null".to_owned()];
    texts.push(entry(&["metadata", "name"], json!("a"), json!("c")));
    texts.push(entry(&["metadata", "namespace"], json!("b"), json!("c")));
    texts.push(entry(&["metadata", "uid"], json!("7b3c"), json!("7b3d")));
    texts.push(entry(&["metadata", "labels", "team"], json!("one"), json!("a value!")));
    texts.push(entry(&["metadata", "annotations"], Value::Null, json!({"x": 7})));
    texts.push(entry(&["metadata", "annotations", V1ALPHA1_FIELDS], Value::Null, json!(7)));
    texts.push(entry(&["kind"], json!(KIND), json!("Pod")));
    for version in ApiVersion::LLAMA_STACK {
        texts.push(entry(&["apiVersion"], json!(version.api_version()), json!("v1")));
    }
    texts.push(json!([{"path": ["metadata"], "to": {}}]).to_string());
    texts.push(json!([{"path": [], "to": {}}]).to_string());
    // Deep enough to overflow a stack, if objects were made on the way.
    texts.push(json!([{"path": vec!["spec"; 30_000], "to": 1}]).to_string());
    for text in texts {
        for version in ApiVersion::LLAMA_STACK {
            for annotation in [V1ALPHA1_FIELDS, V1ALPHA2_FIELDS] {
                assert_is_answered(version, &json!({annotation: text, "example.com/mine": "yes"}));
            }
        }
    }
}

#[test]
fn annotations_of_others_may_leave_no_room() {
    for version in ApiVersion::LLAMA_STACK {
        for left in [0, 1, 40, RESERVED] {
            let key = "example.com/mine";
            let annotations = json!({key: "x".repeat(ANNOTATIONS - key.len() - left)});
            assert_is_answered(version, &annotations);
            let fault = annotation_fault(&object(version, annotations));
            assert_eq!(matches!(fault, Some(AnnotationFault::Full { .. })), left < RESERVED, "{fault:?}");
        }
    }
}

#[test]
fn what_nobody_but_the_conversion_writes_is_told_apart() {
    for version in ApiVersion::LLAMA_STACK {
        let whole = other(version);
        let good = convert(&object(version, json!({"example.com/mine": "yes"})), whole).expect("the resource");
        assert!(kept::text(&good, annotation(version)).is_some());
        assert_eq!(annotation_fault(&good), None);
        let planted = object(version, json!({annotation(whole): "{"}));
        assert_eq!(annotation_fault(&planted), Some(AnnotationFault::Foreign { annotation: annotation(whole) }));
        // Also when it was written in the other version, and is seen converted.
        let converted = convert(&planted, whole).expect("the resource");
        assert!(annotation_fault(&converted).is_some(), "{converted}");
        let view = object(version, json!({annotation(whole): TOO_LARGE}));
        assert_eq!(annotation_fault(&view), Some(AnnotationFault::View { whole }));
        let stored = convert(&view, whole).expect("the resource");
        assert_eq!(annotation_fault(&stored), Some(AnnotationFault::View { whole }));
    }
}

fn text() -> impl Strategy<Value = String> {
    let key = prop_oneof![
        Just("spec".to_owned()),
        Just("status".to_owned()),
        Just("metadata".to_owned()),
        Just("annotations".to_owned()),
        Just("name".to_owned()),
        Just("server".to_owned()),
        Just("distribution".to_owned()),
        Just(V1ALPHA1_FIELDS.to_owned()),
        Just(V1ALPHA2_FIELDS.to_owned()),
        "[a-z]{0,3}",
    ];
    let value = prop_oneof![
        Just(Value::Null),
        Just(json!({})),
        Just(json!("a")),
        Just(json!("starter")),
        Just(json!([1, {"x": "y"}])),
        any::<i64>().prop_map(Value::from),
    ];
    let entry = (prop::collection::vec(key, 0..5), value.clone(), value, 0..6_usize)
        .prop_map(|(path, from, to, within)| json!({"path": path, "from": from, "to": to, "within": within}));
    prop_oneof![
        any::<String>(),
        prop::collection::vec(entry, 0..4).prop_map(|all| Value::Array(all).to_string()),
        Just(TOO_LARGE.to_owned()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_of_our_annotations_is_answered(older in text(), newer in text(), at in 0..2_usize) {
        assert_is_answered(ApiVersion::LLAMA_STACK[at], &json!({V1ALPHA1_FIELDS: older, V1ALPHA2_FIELDS: newer}));
    }
}
