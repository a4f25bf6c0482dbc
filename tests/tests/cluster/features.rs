//! Small CRDs, one feature of schemas or rules each, judged by the API server and by the walk.

use crate::cluster::compare::{Pair, summary};
use crd_validator::CompiledSchema;
use llsd_test_client::comes_about;
use llsd_tests::cluster::{CRDS, Cluster, Request};
use serde::Deserialize;
use serde_json::{Value, json};

/// One case of `features.yaml`: a schema, and objects for it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Feature {
    name: String,
    /// The OpenAPI schema of `spec` in the CRD that is made for the case.
    spec: Value,
    /// Values of `spec`, or `{old, new}`.
    objects: Vec<Value>,
    /// The schema of `spec` under which the old objects were stored, if it was another.
    before: Option<Value>,
    /// A value of `spec` that only the later schema refuses: with it one sees that the server has taken it over.
    refused: Option<Value>,
}

fn schema(spec: &Value) -> Value {
    json!({
        "type": "object",
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object"},
            "spec": spec,
        },
    })
}

/// The definition of one feature's resource. Each has its own group, so that none waits for another.
fn definition(number: usize, spec: &Value) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("things.f{number}.example.org")},
        "spec": {
            "group": format!("f{number}.example.org"),
            "scope": "Namespaced",
            "names": {"kind": "Thing", "plural": "things"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema(spec)}}],
        },
    })
}

fn things(number: usize) -> String {
    format!("/apis/f{number}.example.org/v1/namespaces/default/things")
}

fn object(number: usize, name: &str, spec: &Value) -> Value {
    json!({
        "apiVersion": format!("f{number}.example.org/v1"),
        "kind": "Thing",
        "metadata": {"name": name},
        "spec": spec,
    })
}

/// Stores the old objects of a feature, in the order of its objects, and lets the later schema apply.
fn store(cluster: &Cluster, number: usize, feature: &Feature) -> Vec<Option<Value>> {
    let stored = feature.objects.iter().enumerate().map(|(position, value)| {
        let old = value.get("old").filter(|_| value.get("new").is_some())?;
        let answer = cluster.send(Request::post(things(number), &object(number, &format!("thing-{position}"), old)));
        assert!(answer.accepted(), "{}: the old object is refused: {}", feature.name, answer.message());
        Some(answer.body)
    });
    let stored = stored.collect();
    if let (Some(_), Some(refused)) = (&feature.before, &feature.refused) {
        let path = format!("{CRDS}/things.f{number}.example.org");
        let mut later = definition(number, &feature.spec);
        later["metadata"]["resourceVersion"] =
            cluster.send(Request::get(&path)).body["metadata"]["resourceVersion"].clone();
        let answer = cluster.send(Request::put(path, &later));
        assert!(answer.accepted(), "{}: the server refuses the CRD: {}", feature.name, answer.message());
        let probe = Request::post(things(number), &object(number, "probe", refused)).dry();
        let applies = comes_about(|| !cluster.send(probe.clone()).accepted());
        assert!(applies, "{}: the later schema does not apply", feature.name);
    }
    stored
}

/// Judges the objects of one feature.
fn judge(cluster: &Cluster, number: usize, feature: &Feature, pairs: &mut Vec<Pair>) {
    let schema = CompiledSchema::new(&schema(&feature.spec));
    let stored = store(cluster, number, feature);
    for (position, (value, old)) in feature.objects.iter().zip(stored).enumerate() {
        let name = format!("thing-{position}");
        let mut object = object(number, &name, if old.is_some() { &value["new"] } else { value });
        let request = match &old {
            Some(old) => {
                object["metadata"]["resourceVersion"] = old["metadata"]["resourceVersion"].clone();
                Request::put(format!("{}/{name}", things(number)), &object)
            }
            None => Request::post(things(number), &object),
        };
        let answer = cluster.send(request.dry());
        let verdict = schema.validate(&object, old.as_ref());
        let what = format!("{} {value}", feature.name);
        pairs.push(Pair::of_faults(what, &object, &answer, &verdict));
    }
}

#[test]
fn walk_agrees_on_every_feature() {
    let cluster = Cluster::shared();
    let features: Vec<Feature> = serde_yaml::from_str(include_str!("features.yaml")).expect("features.yaml");
    let first = |feature: &Feature| feature.before.clone().unwrap_or_else(|| feature.spec.clone());
    let crds: Vec<_> =
        features.iter().enumerate().map(|(number, feature)| definition(number, &first(feature))).collect();
    if let Err((number, answer)) = cluster.install_crds(&crds) {
        panic!("{}: the server refuses the CRD: {}", features[number].name, answer.message());
    }
    let mut pairs = Vec::new();
    for (number, feature) in features.iter().enumerate() {
        judge(cluster, number, feature, &mut pairs);
    }
    println!("{}", summary(&pairs));
    let wrong: Vec<_> = pairs.iter().filter(|pair| !pair.agrees()).map(ToString::to_string).collect();
    assert!(wrong.is_empty(), "{}\n{}", wrong.join("\n"), summary(&pairs));
}
