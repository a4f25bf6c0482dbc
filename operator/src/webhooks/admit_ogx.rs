//! The admission webhook of `OGXServer`: what ogx-k8s-operator's refuses is refused, in its words, and all else that the
//! checks find is a warning. Whoever moves from that operator to this one can apply what they could apply before.

use super::admit::{Admission, Passed, findings, refused, response};
use super::review::{BadReview, Review};
use crate::extent::extent_fault;
use llsd_generator::api::ApiVersion;
use llsd_generator::check::finding::{Cause, Finding, Severity};
use llsd_generator::check::rules::{distribution, duplicate_id, model_provider};
use llsd_generator::ogx::rules::adoption::{self, NETWORKING, STORAGE};
use serde_json::{Value, json};

/// The path of the admission webhook of `OGXServer`.
pub const VALIDATE_OGX_PATH: &str = "/validate-ogx-io-v1beta1-ogxserver";

/// Judges the object of a review by itself.
pub(crate) fn review(body: &[u8]) -> Result<Admission, BadReview> {
    let mut review = Review::read(body, "AdmissionReview")?;
    let (response, passed) = answer(&mut review);
    Ok(Admission { review: review.answer(response), passed })
}

fn answer(review: &mut Review) -> (Value, Option<Passed>) {
    let version = ApiVersion::OgxV1Beta1;
    let object = review.request.remove("object").unwrap_or_default();
    let old = review.request.remove("oldObject").filter(Value::is_object);
    let asked = matches!(review.text(["operation", ""]), "CREATE" | "UPDATE") && !object.is_null();
    let leaving = !object["metadata"]["deletionTimestamp"].is_null();
    let unchanged = old.as_ref().is_some_and(|old| says_the_same(old, &object));
    // A resource that today's rules refuse must still be usable.
    if !asked || leaving || unchanged || !review.text(["subResource", ""]).is_empty() {
        return (json!({"allowed": true}), None);
    }
    if ApiVersion::of(&object) != Some(version) {
        return (refused("expected an OGXServer of ogx.io/v1beta1"), None);
    }
    if let Some(fault) = extent_fault(&object) {
        return (refused(&fault), None);
    }
    let found: Vec<Finding> = findings(version, &object, old.as_ref()).into_iter().map(weighed).collect();
    let response = response(&object, version.kind(), &found);
    let namespace = review.text(["namespace", ""]).to_owned();
    let passed = (response["allowed"] == true).then_some(Passed { version, object, namespace });
    (response, passed)
}

/// Whether nothing changes that is judged.
fn says_the_same(old: &Value, new: &Value) -> bool {
    let annotation = |object: &Value, name: &str| object["metadata"]["annotations"][name].clone();
    old["spec"] == new["spec"]
        && [STORAGE, NETWORKING].into_iter().all(|name| annotation(old, name) == annotation(new, name))
}

/// An error where upstream's webhook or the API server has one, else at most a warning.
fn weighed(finding: Finding) -> Finding {
    let upstream =
        [&distribution::UNKNOWN, &duplicate_id::DUPLICATE_ID, &model_provider::UNKNOWN_PROVIDER, &adoption::BROKEN];
    let refuses = matches!(finding.cause, Cause::Crd(_)) || upstream.into_iter().any(|rule| *rule == *finding.rule);
    let severity = if refuses { finding.severity } else { finding.severity.max(Severity::Warning) };
    finding.weighing(severity)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(spec: Value) -> Value {
        json!({"apiVersion": "ogx.io/v1beta1", "kind": "OGXServer", "metadata": {"name": "a", "namespace": "b"}, "spec": spec})
    }

    fn asked(object: &Value, old: Option<&Value>) -> Value {
        let operation = if old.is_some() { "UPDATE" } else { "CREATE" };
        let request = json!({"uid": "u", "operation": operation, "object": object, "oldObject": old});
        let body = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request});
        review(body.to_string().as_bytes()).expect("a review").review["response"].take()
    }

    fn two_of_an_id() -> Value {
        let vllm = json!([{"endpoint": "http://a/v1"}, {"endpoint": "http://b/v1"}]);
        object(json!({
            "distribution": {"name": "starter"}, "providers": {"inference": {"remote": {"vllm": vllm}}},
        }))
    }

    #[test]
    fn what_upstream_refuses_is_refused_in_its_words() {
        let answer = asked(&two_of_an_id(), None);
        let message = answer["status"]["message"].as_str().expect("a message");
        assert!(message.contains("duplicate provider ID \"remote-vllm\""), "{answer}");
        assert_eq!(answer["status"]["details"]["kind"], "OGXServer");
        let mut own = object(json!({"distribution": {"name": "starter"}, "workload": {"storage": {}}}));
        own["metadata"]["annotations"] = json!({"ogx.io/adopt-storage": "a"});
        let answer = asked(&own, None);
        assert!(answer["status"]["message"].as_str().expect("a message").contains("must not equal the CR name"));
    }

    #[test]
    fn what_the_server_would_refuse_is_a_warning() {
        let spec = json!({
            "distribution": {"name": "starter"}, "providers": {"responses": {"inline": {"builtin": {}}}},
        });
        let answer = asked(&object(spec), None);
        assert_eq!(answer["allowed"], true, "{answer}");
        assert!(answer["warnings"].as_array().is_some_and(|all| !all.is_empty()), "{answer}");
    }

    #[test]
    fn what_is_stored_stays_usable() {
        let old = two_of_an_id();
        let mut labelled = old.clone();
        labelled["metadata"]["labels"] = json!({"a": "b"});
        assert_eq!(asked(&labelled, Some(&old))["allowed"], true);
        let mut changed = old.clone();
        changed["spec"]["workload"] = json!({"replicas": 2});
        assert_eq!(asked(&changed, Some(&old))["allowed"], true);
        assert_eq!(asked(&json!({"kind": "Pod"}), None)["allowed"], false);
    }
}
