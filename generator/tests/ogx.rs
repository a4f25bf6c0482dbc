//! `OGXServer`: what the operator makes of one, and what is said of it.

use llsd_generator::api::{ApiVersion, crd};
use llsd_generator::check::facts::GivenBases;
use llsd_generator::check::{Facts, Outcome, Request, verdict};
use llsd_generator::generate::{Base, BaseSource};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;

fn object(spec: &Value) -> Value {
    let mut spec = spec.clone();
    spec["distribution"] = json!({"name": "d"});
    json!({"apiVersion": "ogx.io/v1beta1", "kind": "OGXServer", "metadata": {"name": "test"}, "spec": spec})
}

fn judged(spec: &Value, base: Option<&Value>) -> Outcome {
    let base = base.map(|base| Base { text: base.to_string().into(), source: BaseSource::Given });
    let bases = Arc::new(GivenBases { of_all: base, ..GivenBases::default() });
    let facts = Facts { bases, ..Facts::default() };
    let object = object(spec);
    verdict(&Request {
        version: ApiVersion::OgxV1Beta1,
        value: &object,
        old: None,
        unknown: &BTreeSet::new(),
        facts: &facts,
    })
}

#[test]
fn configs_are_those_of_the_operator() {
    let cases: Vec<Value> = serde_yaml::from_str(include_str!("ogx/cases.yaml")).unwrap();
    let mut wrong = Vec::new();
    for case in &cases {
        let name = case["name"].as_str().unwrap();
        let outcome = judged(&case["spec"], Some(&case["base"]));
        if let Some(error) = case["error"].as_str() {
            let found = outcome.findings.iter().any(|finding| finding.message.starts_with(error));
            if !found || outcome.generated.is_some() {
                wrong.push(format!("{name}: {:#?}", outcome.findings));
            }
            continue;
        }
        let Some(generated) = &outcome.generated else {
            wrong.push(format!("{name}: no config: {:#?}", outcome.findings));
            continue;
        };
        let config = generated.config.tree().to_json();
        // the text says the same as the tree
        assert_eq!(serde_yaml::from_str::<Value>(generated.config.text()).unwrap(), config, "{name}");
        for (key, wanted) in case["config"].as_object().unwrap() {
            if config[key] != *wanted {
                wrong.push(format!("{name}: {key} is\n  {}\nand not\n  {wanted}", config[key]));
            }
        }
        if let Some(wanted) = case["env"].as_object() {
            let shown = |variable: &llsd_generator::generate::EnvVar| {
                let secret = variable.source.secret();
                (variable.name.clone(), json!(format!("{}/{}", secret.name, secret.key)))
            };
            let env: Map<String, Value> = generated.env.iter().map(shown).collect();
            if env != *wanted {
                wrong.push(format!("{name}: variables {env:?}"));
            }
        }
    }
    assert!(cases.len() >= 15 && wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_declares_nothing_generates_nothing() {
    for spec in [json!({}), json!({"baseConfig": {"name": "b", "key": "k"}}), json!({"workload": {"replicas": 2}})] {
        let outcome = judged(&spec, Some(&json!({"version": 2})));
        assert!(outcome.generated.is_none(), "{spec}: {:?}", outcome.findings);
    }
}

/// Every description in `fields.json` is for a field of the schema, and every field of the spec that is upstream's own
/// has one.
#[test]
fn fields_are_described() {
    let mut open = vec![("spec".to_owned(), &crd::schema(ApiVersion::OgxV1Beta1)["properties"]["spec"])];
    let mut missing = Vec::new();
    while let Some((path, schema)) = open.pop() {
        // Kubernetes' own types are described by Kubernetes.
        let foreign =
            ["valueFrom", "volumes", "volumeMounts", "claims", "resourceClaims", "labelSelector", "ingress", "egress"];
        if foreign.iter().any(|name| path.ends_with(name)) {
            continue;
        }
        for (name, field) in schema["properties"].as_object().into_iter().flatten() {
            let path = format!("{path}.{name}");
            let is_reference = path.ends_with(".name") || path.ends_with(".key") || path.ends_with("Id");
            if field["description"].is_null() && !is_reference {
                missing.push(path.clone());
            }
            open.push((path, field));
        }
        for inside in ["items", "additionalProperties"] {
            if schema[inside].is_object() {
                open.push((format!("{path}[]"), &schema[inside]));
            }
        }
    }
    // Numbers and switches whose names say all that is known of them.
    missing.retain(|path| {
        !["Params.", "vectorIndex.", "topologySpreadConstraints", ".claims"].iter().any(|part| path.contains(part))
    });
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn what_the_server_refuses_is_said_with_the_form_that_it_takes() {
    let cases = [
        (json!({"batches": {"inline": {"reference": {"maxConcurrentBatches": 2}}}}), "inline::batch-reference"),
        (json!({"responses": {"inline": {"builtin": {}}}}), "inline::responses"),
        (json!({"toolRuntime": {"inline": {"fileSearch": [{}]}}}), "inline::rag-runtime"),
        (json!({"files": {"inline": {"localfs": {}}}}), "storage_dir"),
        (json!({"files": {"remote": {"s3": {"bucketName": "b"}}}}), "metadata_store"),
        (json!({"vectorIo": {"remote": {"milvus": [{"uri": "http://m"}]}}}), "persistence"),
        (json!({"vectorIo": {"remote": {"qdrant": [{"url": "http://q"}]}}}), "persistence"),
    ];
    for (providers, told) in cases {
        let outcome = judged(&json!({ "providers": providers }), None);
        let refused = outcome.findings.iter().find(|finding| finding.message.contains(told));
        let refused = refused.unwrap_or_else(|| panic!("{providers}: {:#?}", outcome.findings));
        assert_eq!(refused.rule.id, "llsd::ogx::refused", "{refused:#?}");
        assert!(refused.path.to_string().starts_with("spec.providers."), "{refused:#?}");
        assert!(refused.fixes.iter().any(|fix| fix.title == "Write it as a custom provider"), "{refused:#?}");
        assert!(outcome.generated.is_none(), "the base config is not known");
    }
}
