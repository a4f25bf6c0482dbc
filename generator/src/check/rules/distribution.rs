//! The distribution. Source: contract section 4, and for v1alpha1 the Go operator, which admits an object without
//! either field and then fails.

use super::super::finding::{Finding, Severity};
use super::super::subject::{Report, Subject};
use super::RuleInfo;
use crate::api::ApiVersion;
use crate::distribution::{BaseConfig, Distributions};
use crate::generate::GenerateError;

/// Names that only downstream builds of the operator know. Whether they exist depends on the build.
const DOWNSTREAM: [&str; 1] = ["rh-dev"];

pub(super) const RULES: &[RuleInfo] = &[
    RuleInfo {
        id: "llsd::distribution::unknown",
        severity: Severity::Error,
        summary: "The distribution's name is not one that the operator knows.",
        why: "The operator cannot find an image for it, and the resource fails.",
        example: "distribution:\n  name: ollama",
    },
    RuleInfo {
        id: "llsd::distribution::missing",
        severity: Severity::Error,
        summary: "A v1alpha1 resource names neither a distribution nor an image.",
        why: "The API server of older operators admits it, and the resource then fails.",
        example: "server:\n  distribution: {}",
    },
];

pub(in crate::check) fn check(subject: &Subject<'_>, report: &mut Report) {
    let at = subject.distribution_path();
    let path = at.key("name");
    if let Some(name) = subject.distribution() {
        if DOWNSTREAM.contains(&name) && subject.version == ApiVersion::V1Alpha1 {
            report.not_checked("llsd::distribution::unknown", &path, "only some builds of the operator have this name");
        } else if let Err(unknown) = Distributions::embedded().get(name) {
            report.add(GenerateError::from(unknown).finding());
            let last = report.findings.last_mut();
            if let Some(finding) = last {
                finding.path = path.clone();
                finding.fixes.iter_mut().flat_map(|fix| &mut fix.edits).for_each(|edit| {
                    if let super::super::finding::FixEdit::Replace { path: target, .. } = edit {
                        *target = path.clone();
                    }
                });
            }
        } else if BaseConfig::embedded(name).is_none() {
            report.not_checked("llsd::distribution::unknown", &path, "this program has no base config for it");
        }
    }
    // In v1alpha2 the schema says so itself.
    let fields = subject.get(&at).and_then(serde_json::Value::as_object);
    let Some(fields) = fields.filter(|_| subject.version == ApiVersion::V1Alpha1) else { return };
    let given = |field: &str| {
        let path = at.key(field);
        !subject.is_known(&path)
            || fields
                .get(field)
                .is_some_and(|value| value.as_str().is_none_or(|text| !text.is_empty()) && !value.is_null())
    };
    if !given("name") && !given("image") && subject.is_known(&at) {
        let message = "Either name or image must be given: without one the operator has nothing to run";
        report.add(Finding::error("llsd::distribution::missing", at, message));
    }
}
