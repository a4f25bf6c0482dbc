//! What the status of a resource says is what the checks say, in their words: for every case, by the operator's own steps.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;
use llsd_generator::api::ApiVersion;
use llsd_generator::api::status::Status;
use llsd_generator::check::finding::Severity;
use llsd_generator::check::{Facts, Request, verdict};
use llsd_generator::convert::to_v1alpha2;
use llsd_operator::operator_config::OperatorConfig;
use llsd_operator::queue::Key;
use llsd_operator::resources::Owner;
use llsd_operator::served::LLAMA_STACK;
use llsd_operator::steps::Refusal;
use llsd_operator::steps::judge::{Judged, judge};
use llsd_operator::steps::resolve::image;
use llsd_operator::steps::status::{About, StatusInput, status};
use llsd_operator::stores::Stores;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// The conditions that are False, in a line each: what the operator tells of an object that is stored like this and has
/// no children yet. `None`: no API server stores an object of that name.
pub(crate) fn conditions(object: &Value) -> Option<String> {
    let text = |field: &str| object["metadata"][field].as_str().unwrap_or_default().to_owned();
    let namespace = Some(text("namespace")).filter(|name| !name.is_empty()).unwrap_or_else(|| "default".to_owned());
    let key = Key::new(&namespace, &text("name")).ok()?;
    let owner = Owner { served: &LLAMA_STACK, name: text("name"), namespace, uid: "1".to_owned() };
    let config = OperatorConfig::default();
    let judged = image(object, &config, &LLAMA_STACK)
        .and_then(|image| judge(object, &image, None, &config.flags(&owner.namespace), &LLAMA_STACK));
    let (judged, refusal): (Option<Judged>, Option<Refusal>) = match judged {
        Ok(judged) => (Some(judged), None),
        Err(refusal) => (None, Some(refusal)),
    };
    let outcome = StatusInput { judged: judged.as_ref(), refusal, ..StatusInput::default() };
    let about = About { key: &key, owner: &owner, object, before: &Status::default() };
    let now = status(&about, &Stores::default(), &outcome, "0.0.0", &Time(Timestamp::UNIX_EPOCH));
    let mut lines = String::new();
    for condition in now.conditions.into_iter().flatten().filter(|one| one.status == "False") {
        let _ = writeln!(lines, "{} {}: {}", condition.type_, condition.reason, condition.message);
    }
    Some(lines)
}

#[test]
fn the_status_of_every_case_says_what_the_checks_say() {
    let (mut wrong, mut refused, mut passed) = (Vec::new(), 0, 0);
    for (file, case) in llsd_tests::cases::resources() {
        let is_newer = ApiVersion::of(&case) == Some(ApiVersion::V1Alpha2);
        // what is stored is always of the newer version
        let Ok(object) = to_v1alpha2(&case) else { continue };
        // one with a cursor is being written
        if object.to_string().contains("$0") {
            continue;
        }
        let Some(told) = conditions(&object) else { continue };
        let (unknown, facts) = (BTreeSet::new(), Facts::default());
        let version = ApiVersion::V1Alpha2;
        let errors = |old| {
            let mut found =
                verdict(&Request { version, value: &object, old, unknown: &unknown, facts: &facts }).findings;
            found.retain(|one| one.severity == Severity::Error);
            found
        };
        // what is stored is not held against rules about its creation
        let (new, stored) = (errors(None), errors(Some(&object)));
        let is_failure = told.contains("Resource reconciliation failed: ");
        let silent = stored.iter().find(|error| !told.contains(&error.message));
        match silent {
            // a distribution that this operator does not know is told before anything else
            _ if told.contains("failed to validate distribution: ") => {}
            Some(error) => {
                wrong.push(format!("{file}: no word of {}: {}\n{told}\n{object}", error.path, error.message));
            }
            None if new.is_empty() && is_failure && !told.contains("BaseConfigRequired") => {
                wrong.push(format!("{file}: refused without an error\n{told}\n{object}"));
            }
            _ => {}
        }
        refused += usize::from(is_newer && is_failure);
        passed += usize::from(!is_failure);
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n\n"));
    assert!(refused > 20 && passed > 20, "{refused} refused, {passed} passed");
}
