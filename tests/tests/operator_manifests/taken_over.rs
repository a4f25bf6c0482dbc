//! A Deployment that the Go operator made keeps its pod template, so that no pod restarts when this operator takes over.

use crate::operator_manifests::children::{kind_of, recorded};
use crate::operator_manifests::{dry_apply, repository};
use llsd_operator::resources::Kind;
use serde::Deserialize as _;
use serde_json::{Value, json};
use std::fs;

/// Variables that are added because the server would not work without them, by case.
const ADDED: [(&str, &str, &str); 1] = [
    // No configuration is mounted, so the image's own command listens on 8321 while everything else asks port 9000.
    ("taken-over-full", "LLAMA_STACK_PORT", "9000"),
];

#[test]
fn pod_templates_stay_as_they_are() {
    let cases: Vec<_> = recorded().into_iter().filter(|(name, _)| name.starts_with("taken-over-")).collect();
    assert_eq!(cases.len(), 5);
    for (name, objects) in cases {
        let deployment = objects.iter().find(|object| object["kind"] == "Deployment").expect("a Deployment");
        let answer = dry_apply(&kind_of(deployment).api_resource(), deployment).expect("an answer");
        let mut built = answer["spec"]["template"].clone();
        let container = &mut built["spec"]["containers"][0];
        if name == "taken-over-with-config" {
            // The script is kept from the live Deployment; the recorded facts leave it out.
            let command = container.as_object_mut().expect("a container").remove("command").expect("a command");
            assert_eq!(command[0], "/bin/sh");
        }
        let variables = container["env"].as_array_mut().expect("variables");
        for (case, variable, value) in ADDED {
            if case == name {
                let before = variables.len();
                variables.retain(|found| *found != json!({"name": variable, "value": value}));
                assert_eq!(variables.len() + 1, before, "{variable} is not needed any more");
            }
        }
        assert_eq!(built, live(&name), "{name}");
    }
    assert_eq!(Kind::Deployment.name("full"), "full");
}

/// The pod template that runs, from the third document of the case.
fn live(name: &str) -> Value {
    let text = fs::read_to_string(repository("operator/tests/cases").join(format!("{name}.yaml"))).expect("a case");
    let document = serde_yaml::Deserializer::from_str(&text).nth(2).expect("a Deployment");
    let mut template = Value::deserialize(document).expect("YAML")["spec"]["template"].take();
    // The API server answers with it since it can be set.
    if template["metadata"].get("creationTimestamp").is_none() {
        let metadata = template["metadata"].as_object_mut().expect("metadata");
        metadata.shift_remove("creationTimestamp");
    }
    template
}
