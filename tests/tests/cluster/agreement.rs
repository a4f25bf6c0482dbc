//! Hundreds of damaged resources of both versions, judged by the API server and by the walk over our own CRD.

use crate::cluster::compare::{Pair, Relation, summary};
use crate::cluster::crd::{collection, server};
use crate::cluster::mutate::{DAMAGES, Damage, Random, damage};
use llsd_generator::api::ApiVersion;
use llsd_generator::api::crd::schema;
use llsd_generator::check::{self, Facts};
use llsd_tests::cluster::Request;
use serde::Deserialize as _;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// How many damaged objects of each version are judged.
const OBJECTS: usize = 600;

/// The resources of a version that `samples/` and the passing objects of `rules.yaml` hold.
fn good_objects(version: &str) -> Vec<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples");
    let mut files: Vec<_> = fs::read_dir(folder).expect("samples/").flatten().map(|entry| entry.path()).collect();
    files.sort();
    let mut found = Vec::new();
    for file in files.iter().filter(|file| file.extension().is_some_and(|ending| ending == "yaml")) {
        let text = fs::read_to_string(file).expect("a sample");
        for document in serde_yaml::Deserializer::from_str(&text) {
            let object = Value::deserialize(document).expect("a sample is YAML");
            if object["apiVersion"] == format!("llamastack.io/{version}") {
                found.push(object);
            }
        }
    }
    assert!(!found.is_empty(), "no sample of {version}");
    found.extend(crate::cluster::crd::passing_objects(version));
    found
}

/// Damaged objects, all different: good ones, most of them grown by fields that no sample has, with each kind of damage
/// in turn and every third one damaged twice.
fn damaged_objects(version: &str, schema: &Value) -> Vec<(String, Value)> {
    let good = good_objects(version);
    let mut random = Random::new(20_261_128);
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for number in 0.. {
        if found.len() == OBJECTS {
            break;
        }
        let mut object = random.pick(&good).clone();
        let name = object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        object["metadata"]["namespace"] = json!("default");
        let mut kinds = vec![Damage::Grow; number % 4];
        kinds.push(DAMAGES[number % DAMAGES.len()]);
        if number % 3 == 0 {
            kinds.push(*random.pick(&DAMAGES));
        }
        let notes: Vec<_> = kinds
            .into_iter()
            .filter_map(|kind| damage(kind, &mut object, schema, &mut random).map(|place| format!("{kind:?} {place}")))
            .collect();
        if seen.insert(object.to_string()) {
            found.push((format!("{version} {name}: {}", notes.join(", ")), object));
        }
    }
    found
}

/// Sends objects of one version and judges them ourselves.
fn judge(version: ApiVersion, objects: Vec<(String, Value)>) -> Vec<Pair> {
    let requests = objects.iter().map(|(_, object)| Request::post(collection(version.name()), object).dry());
    let answers = server().send_all(requests.collect());
    let pairs = objects.into_iter().zip(answers);
    pairs
        .map(|((what, value), answer)| {
            let (unknown, facts) = (BTreeSet::new(), Facts::default());
            let request = check::Request { version, value: &value, old: None, unknown: &unknown, facts: &facts };
            let outcome = check::verdict(&request);
            // Rules beyond the CRD lack facts here; what matters is what the server would have judged.
            let unchecked = outcome.not_checked.iter().any(|rule| !rule.rule.starts_with("llsd::"));
            Pair::of_findings(what, &value, &answer, &outcome.findings, unchecked)
        })
        .collect()
}

/// What is known to differ: the beginning of a difference, and why it stands.
const EXPLAINED: [(&str, &str); 2] = [
    ("llsd status.phase: Unsupported value", "the server drops a status on create; whoever writes one is mistaken"),
    ("llsd status: Invalid value", "the same"),
];

fn is_explained(difference: &str) -> bool {
    EXPLAINED.iter().any(|(beginning, _)| difference.starts_with(beginning))
}

fn assert_agreement(pairs: &[Pair]) {
    let wrong: Vec<_> = pairs
        .iter()
        .filter(|pair| !pair.agrees())
        .filter(|pair| pair.relation == Relation::Laxer || !pair.difference().iter().all(|one| is_explained(one)))
        .map(ToString::to_string)
        .collect();
    assert!(wrong.is_empty(), "{}\n{}", wrong.join("\n"), summary(pairs));
}

#[test]
fn good_resources_and_each_broken_rule_get_the_servers_verdict() {
    let versions = [ApiVersion::V1Alpha1, ApiVersion::V1Alpha2];
    let pairs: Vec<_> = versions
        .into_iter()
        .flat_map(|version| {
            let good = good_objects(version.name()).into_iter().map(|object| ("good".to_owned(), object));
            judge(version, good.chain(crate::cluster::crd::failing_objects(version.name())).collect())
        })
        .collect();
    println!("{}", summary(&pairs));
    assert_agreement(&pairs);
}

#[test]
fn damaged_resources_get_the_servers_verdict() {
    let pairs: Vec<_> = [ApiVersion::V1Alpha1, ApiVersion::V1Alpha2]
        .into_iter()
        .flat_map(|version| judge(version, damaged_objects(version.name(), schema(version))))
        .collect();
    println!("{}", summary(&pairs));
    assert_agreement(&pairs);
}

#[test]
fn damaged_metadata_gets_the_servers_verdict() {
    let damages: Vec<Value> = serde_yaml::from_str(include_str!("metadata.yaml")).expect("metadata.yaml");
    let objects = damages.into_iter().map(|damage| {
        let mut object = good_objects("v1alpha2").swap_remove(0);
        for (name, value) in damage.as_object().expect("a mapping") {
            object[name] = value.clone();
        }
        (format!("metadata {damage}"), object)
    });
    let pairs = judge(ApiVersion::V1Alpha2, objects.collect());
    println!("{}", summary(&pairs));
    assert_agreement(&pairs);
}
