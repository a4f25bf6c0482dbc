//! The admission webhook: the verdict of the checks, in the words that the editor shows.
//!
//! The API server has applied the schema and its rules before it asks; what is left are the rules that no schema can
//! state. What the cluster has beside the resource is worth a warning only: its Secrets may well be applied after it.

use super::review::{BadReview, Review};
use crate::extent::extent_fault;
use llsd_generator::api::{ApiVersion, Kind};
use llsd_generator::check::finding::{Finding, Severity};
use llsd_generator::check::{Facts, Request, verdict};
use llsd_generator::convert::{AnnotationFault, ConvertError, annotation_fault, to_v1alpha1, to_v1alpha2};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// The path of the admission webhook.
pub const VALIDATE_PATH: &str = "/validate-llamastack-io-v1alpha2-llamastackdistribution";

/// Warnings in one answer, and the bytes of each. The API server passes on some 4,000 bytes in all.
const WARNINGS: usize = 16;
const WARNING_LENGTH: usize = 240;
/// Errors in one answer, and bytes of the text that lists them: users read the first few.
const ERRORS: usize = 50;
const MESSAGE_LENGTH: usize = 16 << 10;

/// Judges the object of a review by itself.
pub(crate) fn review(body: &[u8]) -> Result<Admission, BadReview> {
    let mut review = Review::read(body, "AdmissionReview")?;
    let (response, passed) = answer(&mut review);
    Ok(Admission { review: review.answer(response), passed })
}

/// An answer, and what passed with it.
pub(crate) struct Admission {
    /// The review with the answer.
    pub(crate) review: Value,
    /// The resource that is to be stored, if something of its spec is new.
    pub(crate) passed: Option<Passed>,
}

/// A resource that is to be stored.
pub(crate) struct Passed {
    /// The version in which it was written, and in which it is here.
    pub(crate) version: ApiVersion,
    pub(crate) object: Value,
    /// The namespace that it is written into, as the review says: the object itself may leave it out.
    pub(crate) namespace: String,
}

impl Passed {
    /// The answer with warnings of what is missing beside the resource, too. None of that is a reason to refuse: it may
    /// well be applied a moment later.
    pub(crate) fn warned(&self, mut review: Value, facts: &Facts) -> Value {
        let (unknown, value) = (BTreeSet::new(), &self.object);
        let found = verdict(&Request { version: self.version, value, old: None, unknown: &unknown, facts }).findings;
        review["response"]["warnings"] = json!(warnings(found.iter()));
        review
    }
}

fn answer(review: &mut Review) -> (Value, Option<Passed>) {
    let allowed = || (json!({"allowed": true}), None);
    let object = review.request.remove("object").unwrap_or_default();
    let old = review.request.remove("oldObject").filter(Value::is_object);
    let asked = matches!(review.text(["operation", ""]), "CREATE" | "UPDATE") && !object.is_null();
    let of_part = !review.text(["subResource", ""]).is_empty();
    if !asked {
        return allowed();
    }
    if let Some(fault) = stored_fault(&object, old.as_ref()) {
        return (refused(&fault), None);
    }
    if of_part {
        return allowed();
    }
    let written = match review.text(["requestKind", "version"]) {
        "v1alpha1" => ApiVersion::V1Alpha1,
        _ => ApiVersion::V1Alpha2,
    };
    let response = match judge(&object, old.as_ref(), written) {
        Ok(Some(findings)) => response(&object, written.kind(), &findings),
        Ok(None) => return allowed(),
        Err(error) => return (refused(&error.to_string()), None),
    };
    let in_its_words = if written == ApiVersion::V1Alpha1 { to_v1alpha1(&object) } else { to_v1alpha2(&object) };
    let passed = in_its_words.ok().filter(|_| response["allowed"] == true).map(|object| {
        let namespace = review.text(["namespace", ""]).to_owned();
        Passed { version: written, object, namespace }
    });
    (response, passed)
}

pub(super) fn refused(message: &str) -> Value {
    json!({"allowed": false, "status": {"code": 400, "reason": "BadRequest", "message": message}})
}

/// What must not be stored at all, whether or not the spec changes: annotations that would spoil how the resource is read
/// in the other version, and a spec that could not be judged. What is stored already stays usable, and can be mended.
fn stored_fault(object: &Value, old: Option<&Value>) -> Option<String> {
    if !object["metadata"]["deletionTimestamp"].is_null() {
        return None;
    }
    let annotations = annotation_fault(object).filter(|fault| {
        // Through a view the old object looks like the new one, and would be stored like it.
        matches!(fault, AnnotationFault::View { .. } | AnnotationFault::Unread { .. })
            || old.and_then(annotation_fault).as_ref() != Some(fault)
    });
    let extent = || extent_fault(object).filter(|_| old.is_none_or(|old| old["spec"] != object["spec"]));
    annotations.map(|fault| fault.to_string()).or_else(extent)
}

/// What is to be said about a write: warnings, and errors that the stored object does not have already. `None`: its spec
/// is as it was, or it is leaving.
///
/// The object is judged in the version that the user wrote, so that the words and paths are those of the user's file.
/// What v1alpha1 cannot hold travels in an annotation, which its schema does not look into: so an object written in
/// v1alpha1 is judged a second time, as it will be stored.
fn judge(object: &Value, old: Option<&Value>, written: ApiVersion) -> Result<Option<Vec<Finding>>, ConvertError> {
    let new = to_v1alpha2(object)?;
    let old = old.map(to_v1alpha2).transpose()?;
    let leaving = !new["metadata"]["deletionTimestamp"].is_null();
    if leaving || old.as_ref().is_some_and(|old| old["spec"] == new["spec"]) {
        // Labels, finalizers, the status: a resource that today's rules refuse must still be usable.
        return Ok(None);
    }
    let stored = || findings(ApiVersion::V1Alpha2, &new, old.as_ref());
    if written == ApiVersion::V1Alpha2 {
        return Ok(Some(stored()));
    }
    let mut found = findings(written, &to_v1alpha1(&new)?, old.as_ref().map(to_v1alpha1).transpose()?.as_ref());
    if !found.iter().any(is_error) {
        found.extend(stored().into_iter().filter(is_error));
    }
    Ok(Some(found))
}

fn is_error(finding: &Finding) -> bool {
    finding.severity == Severity::Error
}

pub(super) fn findings(version: ApiVersion, object: &Value, old: Option<&Value>) -> Vec<Finding> {
    let facts = Facts::default();
    let unknown = BTreeSet::new();
    let judge = |value, old| verdict(&Request { version, value, old, unknown: &unknown, facts: &facts }).findings;
    let mut found = judge(object, old);
    if let Some(old) = old.filter(|_| found.iter().any(is_error)) {
        let known = judge(old, None);
        let is_old = |finding: &Finding| known.iter().any(|earlier| finding.is_same_fault(object, earlier, old));
        found.retain(|finding| !is_error(finding) || !is_old(finding));
    }
    found
}

/// The answer to a review of an object of a kind.
pub(super) fn response(object: &Value, kind: Kind, findings: &[Finding]) -> Value {
    let (errors, others): (Vec<_>, Vec<_>) = findings.iter().partition(|finding| is_error(finding));
    let mut response = json!({"allowed": errors.is_empty()});
    let warnings = warnings(others.into_iter());
    if !warnings.is_empty() {
        response["warnings"] = json!(warnings);
    }
    if !errors.is_empty() {
        let causes: Vec<_> = errors
            .iter()
            .take(ERRORS)
            .map(|finding| {
                json!({
                    "reason": "FieldValueInvalid",
                    "field": finding.path.to_string(),
                    "message": format!("{} [{}]", finding.message, finding.rule),
                })
            })
            .collect();
        response["status"] = json!({
            "status": "Failure",
            "code": 422,
            "reason": "Invalid",
            "message": listed(&errors),
            "details": {
                "group": kind.group(),
                "kind": kind.name(),
                "name": object["metadata"]["name"],
                "causes": causes,
            },
        });
    }
    response
}

/// The errors, one a line; of many the first, and how many more there are.
fn listed(errors: &[&Finding]) -> String {
    let mut text = String::new();
    for (at, finding) in errors.iter().enumerate() {
        let line = line(finding);
        if at == ERRORS || text.len() + line.len() > MESSAGE_LENGTH {
            let _ = write!(text, "\n… and {} more", errors.len() - at);
            break;
        }
        if at > 0 {
            text.push('\n');
        }
        text.push_str(&line);
    }
    text
}

/// The lines that a user is shown beside the answer.
fn warnings<'f>(findings: impl Iterator<Item = &'f Finding>) -> Vec<String> {
    let counts = |finding: &&Finding| matches!(finding.severity, Severity::Error | Severity::Warning);
    findings.filter(counts).take(WARNINGS).map(line).map(shortened).collect()
}

/// Place, words and rule of a finding.
fn line(finding: &Finding) -> String {
    match finding.path.to_string() {
        path if path.is_empty() => format!("{} [{}]", finding.message, finding.rule),
        path => format!("{path}: {} [{}]", finding.message, finding.rule),
    }
}

/// Warnings travel in HTTP headers: one line, of a length that the API server passes on.
fn shortened(warning: String) -> String {
    let mut text: String = warning.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    if text.len() > WARNING_LENGTH {
        let end = (0..=WARNING_LENGTH).rev().find(|end| text.is_char_boundary(*end)).unwrap_or_default();
        text.truncate(end);
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(request: Value) -> Value {
        let mut request = request;
        request["uid"] = json!("u-1");
        let body = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request});
        review(body.to_string().as_bytes()).expect("a review").review["response"].take()
    }

    fn object(spec: Value) -> Value {
        json!({
            "apiVersion": "llamastack.io/v1alpha2",
            "kind": "LlamaStackDistribution",
            "metadata": {"name": "a", "namespace": "b"},
            "spec": spec,
        })
    }

    fn create(object: &Value) -> Value {
        asked(json!({"operation": "CREATE", "object": object}))
    }

    fn update(old: &Value, new: &Value) -> Value {
        asked(json!({"operation": "UPDATE", "object": new, "oldObject": old}))
    }

    fn message(response: &Value) -> &str {
        response["status"]["message"].as_str().unwrap_or_default()
    }

    #[test]
    fn a_good_object_passes() {
        assert_eq!(
            create(&object(json!({"distribution": {"name": "starter"}}))),
            json!({"allowed": true, "uid": "u-1"})
        );
    }

    #[test]
    fn an_error_has_place_words_and_rule() {
        let response = create(&object(json!({"distribution": {"name": "startr"}})));
        assert_eq!(response["allowed"], false);
        assert!(
            message(&response).starts_with("spec.distribution.name: Unknown distribution \"startr\""),
            "{response}"
        );
        assert!(message(&response).ends_with("[llsd::distribution::unknown]"), "{response}");
        assert_eq!(response["status"]["details"]["causes"][0]["field"], "spec.distribution.name");
    }

    #[test]
    fn an_update_is_refused_for_new_errors_alone() {
        let old = object(json!({"distribution": {"name": "startr"}}));
        let mut new = old.clone();
        new["spec"]["networking"] = json!({"port": 9000});
        assert_eq!(update(&old, &new)["allowed"], true);
        new["spec"]["distribution"]["name"] = json!("strter");
        assert!(message(&update(&old, &new)).contains("strter"));
        new["spec"]["distribution"]["name"] = json!("startr");
        new["spec"]["networking"] = json!({"allowedFrom": {"labels": ["team=a"]}});
        let response = update(&old, &new);
        assert!(message(&response).contains("label keys without values"), "{response}");
        assert!(!message(&response).contains("startr"), "{response}");
    }

    #[test]
    fn what_does_not_touch_the_spec_always_passes() {
        let old = object(json!({"distribution": {"name": "startr"}}));
        let mut new = old.clone();
        new["metadata"]["labels"] = json!({"a": "b"});
        new["metadata"]["finalizers"] = json!([]);
        assert_eq!(update(&old, &new)["allowed"], true);
        let mut leaving = object(json!({"distribution": {"name": "other"}}));
        leaving["metadata"]["deletionTimestamp"] = json!("2026-01-02T03:04:05Z");
        assert_eq!(update(&old, &leaving)["allowed"], true);
        let request = json!({"operation": "UPDATE", "subResource": "status", "object": leaving, "oldObject": old});
        assert_eq!(asked(request)["allowed"], true);
        assert_eq!(asked(json!({"operation": "DELETE", "object": null, "oldObject": old}))["allowed"], true);
    }

    #[test]
    fn what_was_written_in_v1alpha1_is_told_in_its_words() {
        let newer = object(json!({"distribution": {"name": "startr"}}));
        let request = json!({
            "operation": "CREATE",
            "object": newer,
            "requestKind": {"group": "llamastack.io", "version": "v1alpha1", "kind": "LlamaStackDistribution"},
        });
        let response = asked(request);
        assert!(message(&response).starts_with("spec.server.distribution.name: "), "{response}");
    }

    #[test]
    fn something_else_is_refused_with_a_reason() {
        let response = create(&json!({"apiVersion": "v1", "kind": "Pod"}));
        assert_eq!(response["allowed"], false);
        assert!(message(&response).contains("expected a LlamaStackDistribution"), "{response}");
        assert_eq!(create(&json!(7))["allowed"], false);
    }

    #[test]
    fn annotations_that_only_the_conversion_writes_are_refused_from_others() {
        let good = object(json!({"distribution": {"name": "starter"}}));
        for text in ["\"too large\"", "{", r#"[{"path":["metadata","name"],"from":"a","to":"c"}]"#] {
            for annotation in ["llamastack.io/v1alpha1-fields", "llamastack.io/v1alpha2-fields"] {
                let mut planted = good.clone();
                planted["metadata"]["annotations"] = json!({annotation: text});
                assert_eq!(create(&planted)["allowed"], false, "{annotation}: {text}");
                assert_eq!(update(&good, &planted)["allowed"], false, "{annotation}: {text}");
                // The way out, and the way to the end.
                assert_eq!(update(&planted, &good)["allowed"], true, "{annotation}: {text}");
                planted["metadata"]["deletionTimestamp"] = json!("2026-01-02T03:04:05Z");
                assert_eq!(update(&planted, &planted)["allowed"], true, "{annotation}: {text}");
            }
        }
        let kept = object(json!({"distribution": {"name": "starter"}, "disabled": ["eval"]}));
        let older = to_v1alpha1(&kept).expect("the resource");
        assert_eq!(create(&to_v1alpha2(&older).expect("the resource"))["allowed"], true);
    }

    #[test]
    fn a_spec_that_cannot_be_judged_is_refused() {
        let provider = |settings: Value| {
            object(json!({
                "distribution": {"name": "starter"},
                "providers": {"inference": [{"provider": "vllm", "endpoint": "http://x/v1", "settings": settings}]},
            }))
        };
        let mut deep = json!(1);
        for _ in 0..110 {
            deep = json!({ "a": deep });
        }
        for settings in [json!({"a": vec![0; 30_000]}), json!({ "a": deep })] {
            let large = provider(settings);
            let response = create(&large);
            assert_eq!(response["status"]["code"], 400, "{response}");
            // Stored before it was refused: it can still be labelled.
            let mut labelled = large.clone();
            labelled["metadata"]["labels"] = json!({"a": "b"});
            assert_eq!(update(&large, &labelled)["allowed"], true);
        }
    }

    #[test]
    fn an_answer_is_short() {
        let settings: serde_json::Map<_, _> = (0..2_000).map(|at| (format!("unknown_{at}"), json!(at))).collect();
        let tools: Vec<_> = (0..200).map(|at| format!("{at}{}", "x".repeat(200))).collect();
        let response = create(&object(json!({
            "distribution": {"name": "startr"},
            "providers": {"inference": [{"provider": "vllm", "settings": settings}]},
            "disabled": tools,
        })));
        assert_eq!(response["allowed"], false);
        assert!(response.to_string().len() < 64 << 10, "{}", response.to_string().len());
    }

    #[test]
    fn warnings_fit_into_a_header() {
        let long = shortened("ä\n".repeat(300));
        assert!(long.len() <= WARNING_LENGTH + '…'.len_utf8());
        assert!(!long.contains('\n'));
        assert_eq!(shortened("short".to_owned()), "short");
    }
}
