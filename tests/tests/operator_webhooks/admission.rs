//! What the webhook refuses is what the checks refuse, in their words; and what it must never refuse.

use crate::operator_webhooks::hooks::{collection, good, object, server};
use llsd_generator::api::ApiVersion;
use llsd_generator::check::finding::{Finding, Severity};
use llsd_generator::check::{Facts, Request as Judged, verdict};
use llsd_tests::cases::resources as cases;
use llsd_tests::cluster::{Answer, Request};
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn findings(value: &Value, old: Option<&Value>) -> Vec<Finding> {
    let version = ApiVersion::of(value).unwrap();
    let facts = Facts::default();
    verdict(&Judged { version, value, old, unknown: &BTreeSet::new(), facts: &facts }).findings
}

fn path_of(object: &Value) -> String {
    let version = ApiVersion::of(object).unwrap();
    let namespace = object["metadata"]["namespace"].as_str().unwrap_or("default");
    format!("/apis/llamastack.io/{version}/namespaces/{namespace}/llamastackdistributions")
}

fn refused_by_us(answer: &Answer) -> bool {
    answer.message().starts_with("admission webhook \"vllamastackdistribution.kb.io\" denied the request")
}

#[test]
fn every_case_gets_the_verdict_of_the_editor() {
    let cases = cases();
    assert!(cases.len() > 40, "{}", cases.len());
    let namespaces: BTreeSet<_> = cases.iter().filter_map(|(_, case)| case["metadata"]["namespace"].as_str()).collect();
    for namespace in namespaces {
        let body = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}});
        server().send(Request::post("/api/v1/namespaces", &body));
    }
    let answers = server().send_all(cases.iter().map(|(_, case)| Request::post(path_of(case), case).dry()).collect());
    let (mut wrong, mut ours, mut passed) = (Vec::new(), 0, 0);
    for ((file, case), answer) in cases.iter().zip(answers) {
        let found = findings(case, None);
        let of = |severity| found.iter().filter(move |finding| finding.severity == severity);
        let errors: Vec<_> = of(Severity::Error).collect();
        let complaint = if errors.is_empty() {
            passed += usize::from(answer.accepted());
            let told = |finding: &&Finding| answer.warnings.iter().any(|told| told.contains(&start(finding)));
            let untold = of(Severity::Warning).find(|finding| answer.accepted() && !told(finding));
            match untold {
                _ if !answer.accepted() => Some(format!("refused: {}", answer.message())),
                Some(finding) => Some(format!("not warned of {finding:?}: {:?}", answer.warnings)),
                None => None,
            }
        } else if answer.accepted() {
            Some(format!("accepted in spite of {errors:#?}"))
        } else if refused_by_us(&answer) {
            ours += 1;
            let silent = errors.iter().find(|error| {
                !answer.message().contains(&format!("{}: {} [{}]", error.path, error.message, error.rule))
            });
            silent.map(|error| format!("no word of {error:?}: {}", answer.message()))
        } else {
            // The API server has refused it by the schema, before it asked us.
            None
        };
        wrong.extend(complaint.map(|complaint| format!("{file}: {complaint}\n{case}")));
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n\n"));
    assert!(ours > 5 && passed > 5, "{ours} refused by the webhook, {passed} passed");
}

/// The beginning of a finding's line: long warnings are cut.
fn start(finding: &Finding) -> String {
    let line = format!("{}: {}", finding.path, finding.message);
    line.chars().take(100).collect()
}

fn named(name: &str, distribution: &str) -> Value {
    object("v1alpha2", name, json!({"distribution": {"name": distribution}}))
}

/// A stored object that today's rules refuse: it got there while the webhook was not asked.
fn store_what_is_refused(name: &str) -> Value {
    let path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/llama-stack-operator";
    let ask = |only: Value| good(server().send(Request::merge(path, &only)));
    let mut configuration = good(server().send(Request::get(path)));
    let hooks = configuration["webhooks"].take();
    let mut relaxed = hooks.clone();
    relaxed[0]["matchConditions"] = json!([{
        "name": "not-in-the-test",
        "expression": format!("object.metadata.name != '{name}'"),
    }]);
    ask(json!({"webhooks": relaxed}));
    let body = named(name, "gone-since");
    let mut stored = None;
    crate::operator_webhooks::hooks::wait_until("the API server looks away", || {
        let answer = server().send(Request::post(collection("v1alpha2"), &body));
        stored = Some(answer.body.clone());
        answer.accepted()
    });
    let mut strict = hooks;
    strict[0]["matchConditions"] = json!([]);
    ask(json!({"webhooks": strict}));
    crate::operator_webhooks::hooks::wait_until("the API server asks again", || {
        let mut probe = stored.clone().unwrap();
        probe["spec"]["distribution"]["name"] = json!("unknown-too");
        refused_by_us(&server().send(Request::put(format!("{}/{name}", collection("v1alpha2")), &probe).dry()))
    });
    stored.unwrap()
}

#[test]
fn a_stored_object_that_is_refused_today_can_still_be_worked_with() {
    let name = "older-than-the-rule";
    let stored = store_what_is_refused(name);
    let path = format!("{}/{name}", collection("v1alpha2"));
    let edit = |edit: &Value| server().send(Request::merge(&path, edit));
    good(edit(&json!({"metadata": {"labels": {"a": "b"}, "finalizers": ["example.com/wait"]}})));
    good(edit(&json!({"spec": {"networking": {"port": 9000}}})));
    good(server().send(Request::merge(format!("{path}/status"), &json!({"status": {"phase": "Failed"}}))));
    // The same through the older version.
    let older = format!("{}/{name}", collection("v1alpha1"));
    good(server().send(Request::merge(&older, &json!({"spec": {"replicas": 2}}))));
    // A new mistake is another matter.
    let answer = edit(&json!({"spec": {"networking": {"allowedFrom": {"labels": ["team=a"]}}}}));
    assert_eq!(answer.status, 422);
    assert!(!answer.accepted() && !answer.message().contains("gone-since"), "{}", answer.message());
    // It can go.
    good(server().send(Request::delete(&path)));
    good(edit(&json!({"metadata": {"finalizers": null}})));
    assert_eq!(server().send(Request::get(&path)).status, 404);
    assert_eq!(stored["spec"]["distribution"]["name"], "gone-since");
}

#[test]
fn what_is_written_in_v1alpha1_is_judged_too() {
    let older = object("v1alpha1", "older", json!({"server": {"distribution": {"name": "startr"}}}));
    let answer = server().send(Request::post(collection("v1alpha1"), &older).dry());
    assert!(refused_by_us(&answer), "{}", answer.message());
    assert!(answer.message().contains("spec.server.distribution.name: Unknown distribution"), "{}", answer.message());
    assert_eq!(answer.causes()[0].field, "spec.server.distribution.name");
}
