//! Conversion between the versions: nothing is lost, and no annotation undoes an edit.
use crd_validator::CompiledSchema;
use llsd_generator::api::{ApiVersion, crd, v1alpha1, v1alpha2};
use llsd_generator::convert::{
    ConvertError, V1ALPHA1_FIELDS, V1ALPHA2_FIELDS, annotation_fault, to_v1alpha1, to_v1alpha2,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::LazyLock;

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_v1alpha1_object_survives(object in crate::objects::object(ApiVersion::V1Alpha1)) {
        let newer = to_v1alpha2(&object).unwrap();
        serde_json::from_value::<v1alpha2::LlamaStackDistribution>(newer.clone()).unwrap();
        // A distribution without name and image, which only v1alpha1 takes, is the one thing that stays invalid.
        let mut judged = newer.clone();
        if judged["spec"]["distribution"] == json!({}) {
            judged["spec"]["distribution"]["name"] = json!("starter");
        }
        prop_assert_eq!(errors(ApiVersion::V1Alpha2, &judged), Vec::<String>::new());
        let back = to_v1alpha1(&newer).unwrap();
        prop_assert_eq!(&back, &object);
        // Again from there, as when the stored object is read in turns.
        prop_assert_eq!(to_v1alpha2(&back).unwrap(), newer);
    }

    #[test]
    fn any_v1alpha2_object_survives(object in crate::objects::object(ApiVersion::V1Alpha2)) {
        let older = to_v1alpha1(&object).unwrap();
        serde_json::from_value::<v1alpha1::LlamaStackDistribution>(older.clone()).unwrap();
        prop_assert_eq!(errors(ApiVersion::V1Alpha1, &older), Vec::<String>::new());
        let back = to_v1alpha2(&older).unwrap();
        prop_assert_eq!(&back, &object);
        prop_assert_eq!(to_v1alpha1(&back).unwrap(), older);
    }

    #[test]
    fn anything_is_answered(spec in crate::objects::object(ApiVersion::V1Alpha2), version in 0..2_usize) {
        // The fields of one version under the name of the other: every field is unknown or misplaced.
        let version = ApiVersion::LLAMA_STACK[version];
        let mut object = spec;
        object["apiVersion"] = json!(version.api_version());
        let there = match version {
            ApiVersion::V1Alpha1 => to_v1alpha2(&object),
            _ => to_v1alpha1(&object),
        };
        let there = there.unwrap();
        let back = match version {
            ApiVersion::V1Alpha1 => to_v1alpha1(&there),
            _ => to_v1alpha2(&there),
        };
        prop_assert_eq!(back.unwrap(), object);
    }
}

/// What the API server would refuse in an object.
fn errors(version: ApiVersion, object: &Value) -> Vec<String> {
    static SCHEMAS: LazyLock<[CompiledSchema; 2]> =
        LazyLock::new(|| ApiVersion::LLAMA_STACK.map(|version| CompiledSchema::new(crd::schema(version))));
    let schema = &SCHEMAS[ApiVersion::LLAMA_STACK.iter().position(|known| *known == version).unwrap()];
    let verdict = schema.validate(object, None);
    verdict.faults.into_iter().map(|fault| format!("{}: {}", fault.path, fault.message)).collect()
}

fn older(spec: Value) -> Value {
    json!({"apiVersion": "llamastack.io/v1alpha1", "kind": "LlamaStackDistribution", "metadata": {"name": "a"}, "spec": spec})
}

fn newer(spec: Value) -> Value {
    json!({"apiVersion": "llamastack.io/v1alpha2", "kind": "LlamaStackDistribution", "metadata": {"name": "a"}, "spec": spec})
}

fn kept(object: &Value, annotation: &str) -> bool {
    object["metadata"]["annotations"].get(annotation).is_some()
}

#[test]
fn every_field_goes_where_it_belongs() {
    let spec = json!({
        "replicas": 2,
        "server": {
            "distribution": {"name": "starter"},
            "containerSpec": {
                "name": "llama-stack", "port": 8080, "resources": {"limits": {"memory": "2Gi"}},
                "env": [{"name": "A", "value": "b"}], "command": ["c"], "args": ["d"],
            },
            "workers": 3,
            "podOverrides": {
                "serviceAccountName": "sa", "terminationGracePeriodSeconds": 0,
                "volumes": [{"name": "v", "emptyDir": {}}], "volumeMounts": [{"name": "v", "mountPath": "/v"}],
            },
            "podDisruptionBudget": {"minAvailable": 1},
            "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}],
            "autoscaling": {"minReplicas": 1, "maxReplicas": 4, "targetCPUUtilizationPercentage": 70},
            "storage": {"size": "20Gi", "mountPath": "/data"},
            "userConfig": {"configMapName": "config"},
            "tlsConfig": {"caBundle": {"configMapName": "ca", "configMapNamespace": "n", "configMapKeys": ["k"]}},
        },
        "network": {"exposeRoute": true, "allowedFrom": {"namespaces": ["*"], "labels": ["team"]}},
    });
    let expected = newer(json!({
        "distribution": {"name": "starter"},
        "networking": {
            "port": 8080,
            "tls": {"caBundle": {"configMapName": "ca", "configMapNamespace": "n", "configMapKeys": ["k"]}},
            "expose": {},
            "allowedFrom": {"namespaces": ["*"], "labels": ["team"]},
        },
        "workload": {
            "replicas": 2,
            "workers": 3,
            "resources": {"limits": {"memory": "2Gi"}},
            "autoscaling": {"minReplicas": 1, "maxReplicas": 4, "targetCPUUtilizationPercentage": 70},
            "storage": {"size": "20Gi", "mountPath": "/data"},
            "podDisruptionBudget": {"minAvailable": 1},
            "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}],
            "overrides": {
                "serviceAccountName": "sa", "terminationGracePeriodSeconds": 0,
                "env": [{"name": "A", "value": "b"}], "command": ["c"], "args": ["d"],
                "volumes": [{"name": "v", "emptyDir": {}}], "volumeMounts": [{"name": "v", "mountPath": "/v"}],
            },
        },
        "overrideConfig": {"configMapName": "config"},
    }));
    assert_eq!(to_v1alpha2(&older(spec.clone())).unwrap(), expected, "and nothing is left for an annotation");
    assert_eq!(to_v1alpha1(&expected).unwrap(), older(spec));
}

#[test]
fn what_the_other_version_cannot_hold_is_kept() {
    let object = older(json!({
        "replicas": 1,
        "server": {
            "distribution": {"image": "x"},
            "containerSpec": {"name": "server", "port": 80, "env": []},
            "autoscaling": {"maxReplicas": 0},
            "podDisruptionBudget": {},
            "userConfig": {"configMapName": "c", "configMapNamespace": "elsewhere"},
        },
        "network": {"exposeRoute": false},
    }));
    let there = to_v1alpha2(&object).unwrap();
    assert_eq!(there["spec"], json!({"distribution": {"image": "x"}, "overrideConfig": {"configMapName": "c"}}));
    assert!(kept(&there, V1ALPHA1_FIELDS));
    assert_eq!(to_v1alpha1(&there).unwrap(), object);
}

#[test]
fn bounds_that_contradict_each_other_come_back_to_the_older_version() {
    let scaling = json!({"minReplicas": 5, "maxReplicas": 2});
    let object = older(json!({"server": {"distribution": {"name": "starter"}, "autoscaling": scaling}}));
    let there = to_v1alpha2(&object).unwrap();
    assert_eq!(there["spec"]["workload"]["autoscaling"], json!({"maxReplicas": 2}));
    assert_eq!(errors(ApiVersion::V1Alpha2, &there), Vec::<String>::new());
    assert_eq!(to_v1alpha1(&there).unwrap(), object);
}

#[test]
fn values_of_another_type_are_converted_too() {
    let nothing = older(json!({"server": {"distribution": {"name": "starter"}, "workers": null}}));
    let there = to_v1alpha2(&nothing).unwrap();
    assert_eq!(there["spec"].get("workload").and_then(|workload| workload.get("workers")), None);
    assert_eq!(to_v1alpha1(&there).unwrap(), nothing);

    let list = newer(json!({"distribution": {"name": "starter"}, "workload": {"replicas": [1]}}));
    let there = to_v1alpha1(&list).unwrap();
    assert_eq!(there["spec"]["replicas"], json!([1]));
    assert_eq!(to_v1alpha2(&there).unwrap(), list);
}

#[test]
fn an_edited_field_stays_edited_and_the_rest_comes_back() {
    let object = older(json!({
        "server": {
            "distribution": {"name": "starter"},
            "containerSpec": {"name": "server", "port": 80},
            "userConfig": {"configMapName": "c", "configMapNamespace": "elsewhere"},
        },
    }));
    let mut there = to_v1alpha2(&object).unwrap();
    there["spec"]["networking"] = json!({"port": 9000});
    there["spec"]["workload"]["overrides"] = json!({"env": [{"name": "A", "value": "b"}]});
    there["spec"].as_object_mut().unwrap().remove("overrideConfig");
    let back = to_v1alpha1(&there).unwrap();
    let container = &back["spec"]["server"]["containerSpec"];
    assert_eq!(container["port"], 9000, "the edit");
    assert_eq!(container["name"], "server", "not edited");
    assert_eq!(container["env"][0]["name"], "A");
    assert_eq!(back["spec"]["server"].get("userConfig"), None, "the namespace went with its ConfigMap");
}

#[test]
fn defaults_of_the_server_are_no_edits() {
    let object = older(json!({
        "replicas": 1,
        "server": {"distribution": {"name": "starter"}, "storage": {}},
        "network": {"exposeRoute": true},
    }));
    let mut there = to_v1alpha2(&object).unwrap();
    there["spec"]["networking"]["port"] = json!(8321);
    there["spec"]["workload"]["replicas"] = json!(1);
    there["spec"]["workload"]["storage"]["mountPath"] = json!("/.llama");
    assert_eq!(to_v1alpha1(&there).unwrap(), object);
}

#[test]
fn tls_outlives_unrelated_edits_in_the_older_version() {
    let object = newer(json!({
        "distribution": {"name": "starter"},
        "networking": {"port": 8443, "tls": {"enabled": true, "secretName": "s"}, "expose": {"hostname": "h"}},
        "providers": {"inference": [{"provider": "vllm", "settings": {"a": null}}]},
    }));
    let mut there = to_v1alpha1(&object).unwrap();
    assert!(kept(&there, V1ALPHA2_FIELDS));
    there["spec"]["server"]["containerSpec"].as_object_mut().unwrap().remove("port");
    there["spec"]["replicas"] = json!(5);
    let back = to_v1alpha2(&there).unwrap();
    assert_eq!(back["spec"]["networking"]["tls"], object["spec"]["networking"]["tls"]);
    assert_eq!(back["spec"]["networking"]["expose"], json!({"hostname": "h"}));
    assert_eq!(back["spec"]["providers"], object["spec"]["providers"]);
    assert_eq!(back["spec"]["workload"]["replicas"], 5);
    there["spec"]["network"]["exposeRoute"] = json!(false);
    assert_eq!(to_v1alpha2(&there).unwrap()["spec"]["networking"].get("expose"), None);
}

#[test]
fn a_config_set_in_the_older_version_wins_over_kept_providers() {
    let object = newer(json!({
        "distribution": {"name": "starter"},
        "providers": {"inference": [{"provider": "vllm"}]},
    }));
    let mut there = to_v1alpha1(&object).unwrap();
    there["spec"]["server"]["userConfig"] = json!({"configMapName": "mine"});
    let back = to_v1alpha2(&there).unwrap();
    assert_eq!(back["spec"]["overrideConfig"], json!({"configMapName": "mine"}));
    assert_eq!(back["spec"].get("providers"), None);
}

#[test]
fn annotations_of_others_are_left_alone() {
    for text in [
        "not json",
        "{}",
        "[{\"path\": 1}]",
        "[{\"path\":[],\"to\":1}]",
        "[{\"path\":[\"kind\"],\"from\":\"x\",\"to\":1}]",
    ] {
        let mut object = older(json!({"replicas": 1, "server": {"distribution": {"name": "starter"}}}));
        object["metadata"]["annotations"] = json!({V1ALPHA1_FIELDS: text, "a": "b"});
        let there = to_v1alpha2(&object).unwrap();
        assert_eq!(there["spec"], json!({"distribution": {"name": "starter"}}));
        assert_eq!(to_v1alpha1(&there).unwrap(), object, "{text}");
        object["metadata"]["annotations"] = json!({V1ALPHA2_FIELDS: text});
        assert_eq!(to_v1alpha2(&object).unwrap()["spec"], json!({"distribution": {"name": "starter"}}));
    }
}

#[test]
fn other_kinds_are_refused() {
    for object in [
        json!(null),
        json!({}),
        json!({"apiVersion": "v1", "kind": "Pod"}),
        json!({"apiVersion": "llamastack.io/v1", "kind": "LlamaStackDistribution"}),
    ] {
        assert!(matches!(to_v1alpha2(&object), Err(ConvertError::OtherKind { .. })));
    }
    let same = newer(json!({}));
    assert_eq!(to_v1alpha2(&same).unwrap(), same);
}

/// More variables than v1alpha2 takes.
fn many_variables(bytes: usize) -> Value {
    let count = 2_000;
    (0..count).map(|number| json!({"name": format!("V{number}"), "value": "x".repeat(bytes / count)})).collect()
}

fn annotations(object: &Value) -> usize {
    let annotations = object["metadata"]["annotations"].as_object();
    annotations.into_iter().flatten().map(|(key, value)| key.len() + value.as_str().unwrap_or_default().len()).sum()
}

#[test]
fn what_no_annotation_can_carry_stays_in_place() {
    let object = json!({
        "apiVersion": "llamastack.io/v1alpha1",
        "kind": "LlamaStackDistribution",
        "metadata": {"name": "a", "namespace": "b"},
        "spec": {
            "replicas": 1,
            "server": {
                "distribution": {"name": "starter"},
                "containerSpec": {"name": "mine", "env": many_variables(800_000)},
            },
        },
    });
    let newer = to_v1alpha2(&object).unwrap();
    assert_eq!(newer["spec"]["workload"]["overrides"]["env"].as_array().unwrap().len(), 2_000);
    assert!(annotations(&newer) < 10_000, "{}", annotations(&newer));
    assert!(to_v1alpha1(&newer).unwrap() == object, "it comes back whole");
    // A smaller one is kept as ever: in the annotation, outside the fields whose limits it breaks.
    let mut smaller = object;
    smaller["spec"]["server"]["containerSpec"]["env"] = many_variables(20_000);
    let newer = to_v1alpha2(&smaller).unwrap();
    assert_eq!(newer["spec"]["workload"].get("overrides"), None);
    assert!(to_v1alpha1(&newer).unwrap() == smaller, "it comes back whole");
}

#[test]
fn a_view_of_something_too_large_is_not_taken_back() {
    let settings = json!({"text": "x".repeat(300_000)});
    let object = json!({
        "apiVersion": "llamastack.io/v1alpha2",
        "kind": "LlamaStackDistribution",
        "metadata": {"name": "a", "namespace": "b"},
        "spec": {
            "distribution": {"name": "starter"},
            "providers": {"inference": [{"provider": "vllm", "settings": settings}]},
        },
    });
    let older = to_v1alpha1(&object).unwrap();
    assert!(annotations(&older) < 1_000);
    assert_eq!(older["spec"]["server"]["distribution"]["name"], "starter");
    // What is read is answered: the same text may have been written by anybody. What is stored is refused by admission,
    // which sees the object as it would be stored.
    let stored = to_v1alpha2(&older).unwrap();
    assert_eq!(stored["metadata"]["name"], "a");
    let fault = annotation_fault(&stored).unwrap();
    assert_eq!(
        fault.to_string(),
        "this resource is only a view of the one in v1alpha2: the rest of it does not fit into annotations, and would be \
         lost. Edit it as v1alpha2"
    );
}
