//! Strategic merge patches: ours and kustomize's, on values made at random.

use super::{Tree, documents};
use llsd_generator::kustomize::merge;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Map, Value, json};

/// Resources in one build: kustomize starts slowly, so that many share a start.
const RESOURCES: usize = 400;

/// Values whose keys meet often. `directives`: as in a patch.
fn value(directives: bool) -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        4 => (0..3_i64).prop_map(Value::from),
        2 => Just(Value::Null),
        3 => prop::sample::select(vec!["x", "z w", "true", "1"]).prop_map(Value::from),
        1 => Just(json!([])),
        1 => Just(json!({})),
    ];
    let key = prop::sample::select(vec!["a", "b", "c", "d", "name"]);
    leaf.prop_recursive(4, 24, 4, move |inner| {
        let map = prop::collection::vec((key.clone(), inner.clone()), 0..5);
        let word = prop::sample::select(vec!["delete", "replace", "merge"]);
        let directive = if directives { prop::option::weighted(0.2, word).boxed() } else { Just(None).boxed() };
        let map = (map, directive).prop_map(|(fields, directive)| {
            let mut map: Map<String, Value> = fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
            map.extend(directive.map(|word| ("$patch".to_owned(), Value::from(word))));
            Value::Object(map)
        });
        prop_oneof![3 => map, 1 => prop::collection::vec(inner, 0..3).prop_map(Value::Array)]
    })
}

fn resource(number: usize, spec: &Value) -> Value {
    json!({
        "apiVersion": "llamastack.io/v1alpha2",
        "kind": "LlamaStackDistribution",
        "metadata": {"name": format!("r{number}")},
        "spec": {"x": spec},
    })
}

/// What can be compared: the API server makes the same of nulls whether they are written or not, and kustomize puts a value
/// that takes the place of a quoted one in quotes too, which values do not tell.
fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(map) => map
            .iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(key, value)| (key.clone(), without_nulls(value)))
            .collect(),
        Value::Array(items) => items.iter().map(without_nulls).collect(),
        Value::String(text) => Value::from(text.as_str()),
        other => Value::from(other.to_string()),
    }
}

#[test]
fn ours_comes_to_what_kustomize_builds() {
    let mut runner = TestRunner::deterministic();
    let (mut bases, mut patches, mut expected) = (String::new(), String::new(), Vec::new());
    let (mut refused, mut removed) = (0, 0);
    while expected.len() < RESOURCES {
        let base = value(false).new_tree(&mut runner).unwrap().current();
        let patch = value(true).new_tree(&mut runner).unwrap().current();
        let (base, patch) = (resource(expected.len(), &base), resource(expected.len(), &patch));
        match merge(&base, &patch) {
            Ok(Some(result)) => {
                bases.push_str(&format!("---\n{base}\n"));
                patches.push_str(&format!("---\n{patch}\n"));
                expected.push(result);
            }
            Ok(None) => removed += 1,
            Err(_) => refused += 1,
        }
    }
    assert!(refused > 20 && removed == 0, "{refused} {removed}");
    let fixture = format!(
        "#- kustomization.yaml\nresources: [base.yaml]\npatches: [{{path: patch.yaml}}]\n#- base.yaml\n{bases}#- patch.yaml\n\
         {patches}"
    );
    let built = documents(&Tree::new("merge", &fixture).build(".").unwrap());
    assert_eq!(built.len(), expected.len());
    for ours in &expected {
        let theirs = built.iter().find(|one| one["metadata"]["name"] == ours["metadata"]["name"]).unwrap();
        assert_eq!(without_nulls(ours), without_nulls(theirs));
    }
}

#[test]
fn what_ours_refuses_kustomize_refuses() {
    let mut runner = TestRunner::deterministic();
    let mut tried = 0;
    while tried < 12 {
        let base = resource(0, &value(false).new_tree(&mut runner).unwrap().current());
        let patch = resource(0, &value(true).new_tree(&mut runner).unwrap().current());
        if merge(&base, &patch).is_err() {
            tried += 1;
            let fixture = format!(
                "#- kustomization.yaml\nresources: [base.yaml]\npatches: [{{path: patch.yaml}}]\n#- base.yaml\n{base}\n\
                 #- patch.yaml\n{patch}\n"
            );
            let answer = Tree::new(&format!("refused-{tried}"), &fixture).build(".");
            assert!(answer.is_err(), "{base}\n{patch}\n{}", answer.unwrap());
        }
    }
}
