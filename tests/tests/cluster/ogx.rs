//! `OGXServer` on a real API server: damaged resources get its verdict.

use crate::cluster::compare::{Pair, summary};
use crate::cluster::mutate::{DAMAGES, Damage, Random, damage};
use llsd_generator::api::ApiVersion;
use llsd_generator::check::{self, Facts};
use llsd_generator::ogx::crd;
use llsd_tests::cluster::{Cluster, Request};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::OnceLock;

/// How many damaged objects are judged.
const OBJECTS: usize = 600;

/// The server with upstream's CRD installed.
fn server() -> &'static Cluster {
    static INSTALLED: OnceLock<()> = OnceLock::new();
    let cluster = Cluster::shared();
    INSTALLED.get_or_init(|| {
        if let Err((_, answer)) = cluster.install_crds(&[crd::definition()]) {
            panic!("the API server refuses the CRD: {}", answer.message());
        }
    });
    cluster
}

/// Resources that the API server takes.
fn good_objects() -> Vec<Value> {
    let text = include_str!("ogx.yaml");
    let specs: Vec<Value> = serde_yaml::from_str(text).expect("ogx.yaml");
    let object = |spec| json!({"apiVersion": "ogx.io/v1beta1", "kind": "OGXServer", "metadata": {"name": "one", "namespace": "default"}, "spec": spec});
    specs.into_iter().map(object).collect()
}

fn judge(objects: Vec<(String, Value)>) -> Vec<Pair> {
    let collection = || "/apis/ogx.io/v1beta1/namespaces/default/ogxservers".to_owned();
    let requests = objects.iter().map(|(_, object)| Request::post(collection(), object).dry());
    let answers = server().send_all(requests.collect());
    let judged = objects.into_iter().zip(answers).map(|((what, value), answer)| {
        let (unknown, facts) = (BTreeSet::new(), Facts::default());
        let version = ApiVersion::OgxV1Beta1;
        let outcome =
            check::verdict(&check::Request { version, value: &value, old: None, unknown: &unknown, facts: &facts });
        let unchecked = outcome.not_checked.iter().any(|rule| !rule.rule.starts_with("llsd::"));
        Pair::of_findings(what, &value, &answer, &outcome.findings, unchecked)
    });
    judged.collect()
}

fn assert_agreement(pairs: &[Pair]) {
    let wrong: Vec<_> = pairs.iter().filter(|pair| !pair.agrees()).map(ToString::to_string).collect();
    assert!(wrong.is_empty(), "{}\n{}", wrong.join("\n"), summary(pairs));
}

#[test]
fn good_resources_get_the_servers_verdict() {
    let pairs = judge(good_objects().into_iter().map(|object| ("good".to_owned(), object)).collect());
    println!("{}", summary(&pairs));
    assert_agreement(&pairs);
}

#[test]
fn damaged_resources_get_the_servers_verdict() {
    let (good, schema) = (good_objects(), crd::schema());
    let mut random = Random::new(20_261_128);
    let mut seen = BTreeSet::new();
    let mut objects = Vec::new();
    for number in 0.. {
        if objects.len() == OBJECTS {
            break;
        }
        let mut object = random.pick(&good).clone();
        let mut kinds = vec![Damage::Grow; number % 4];
        kinds.push(DAMAGES[number % DAMAGES.len()]);
        let notes: Vec<_> = kinds
            .into_iter()
            .filter_map(|kind| damage(kind, &mut object, schema, &mut random).map(|place| format!("{kind:?} {place}")))
            .collect();
        if seen.insert(object.to_string()) {
            objects.push((notes.join(", "), object));
        }
    }
    let pairs = judge(objects);
    println!("{}", summary(&pairs));
    assert_agreement(&pairs);
}
