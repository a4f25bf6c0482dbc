//! The distribution. Source: `configs/distributions.json`, and for v1alpha1 the Go operator, which admits an object
//! without either field and then fails.

use super::super::context::{Report, RuleContext};
use super::super::finding::{Finding, Severity};
use super::super::rule::{Group, Rule};
use crate::api::ApiVersion;
use crate::distribution::{BaseConfig, Distributions};
use crate::generate::GenerateError;

/// Names that only downstream builds of the operator know. Whether they exist depends on the build.
const DOWNSTREAM: [&str; 1] = ["rh-dev"];

pub static UNKNOWN: Rule = Rule {
    id: "llsd::distribution::unknown",
    severity: Severity::Error,
    summary: "The distribution's name is not one that the operator knows.",
    why: "The operator cannot find an image for it, and the resource fails.",
    example: "distribution:\n  name: ollama",
    ..Rule::PLAIN
};

pub static MISSING: Rule = Rule {
    id: "llsd::distribution::missing",
    severity: Severity::Error,
    summary: "A v1alpha1 resource names neither a distribution nor an image.",
    why: "The API server of older operators admits it, and the resource then fails.",
    example: "server:\n  distribution: {}",
    ..Rule::PLAIN
};

pub static SOME_BUILDS: Rule = Rule {
    id: "llsd::distribution::some-builds",
    severity: Severity::Information,
    summary: "The distribution's name is known to some builds of the operator only.",
    why: "Vendors build the operator with names of their own. Another operator finds no image for it, and its config is not known here: what depends on that is not checked.",
    example: "distribution:\n  name: rh-dev",
    ..Rule::PLAIN
};

pub(super) static GROUP: Group = Group { rules: &[&UNKNOWN, &MISSING, &SOME_BUILDS], check: Some(check) };

pub(in crate::check) fn check(context: &RuleContext<'_>, report: &mut Report) {
    let at = context.distribution_path();
    let path = at.key("name");
    if let Some(name) = context.distribution() {
        if DOWNSTREAM.contains(&name) {
            let message = format!("Only some builds of the operator know the distribution \"{name}\"");
            report.add(Finding::new(&SOME_BUILDS, path.clone(), message));
            report.not_checked(&UNKNOWN, &path, "only some builds of the operator have this name");
        } else if let Err(unknown) = Distributions::embedded().get(name) {
            let error = GenerateError::UnknownDistribution { path: path.clone(), unknown };
            report.add(Finding::from(error));
        } else if BaseConfig::embedded(name).is_none() {
            report.not_checked(&UNKNOWN, &path, "this program has no base config for it");
        }
    }
    // In v1alpha2 the schema says so itself.
    let fields = context.get(&at).and_then(serde_json::Value::as_object);
    let Some(fields) = fields.filter(|_| context.version == ApiVersion::V1Alpha1) else { return };
    let given = |field: &str| {
        let path = at.key(field);
        !context.is_known(&path)
            || fields
                .get(field)
                .is_some_and(|value| value.as_str().is_none_or(|text| !text.is_empty()) && !value.is_null())
    };
    if !given("name") && !given("image") && context.is_known(&at) {
        let message = "Either name or image must be given: without one the operator has nothing to run";
        report.add(Finding::new(&MISSING, at, message));
    }
}
