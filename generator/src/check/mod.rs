//! The verdict on a resource.

pub mod facts;
pub mod finding;
pub mod header;
mod remedies;
mod rules;
mod schema;
mod subject;
mod validated;

pub use facts::Facts;
pub use rules::{Reference, ReferenceKind, RuleInfo, rules, unquoted_variables};
pub use validated::Validated;

use crate::api::ApiVersion;
use crate::catalog::Catalog;
use crate::distribution::version_of_image;
use crate::fold;
use crate::generate::{Base, ConfigSource, Generated, generate, target};
use crate::path::{Path, Segment};
use finding::{Finding, Severity};
use serde_json::Value;
use std::collections::BTreeSet;
use subject::{Report, Subject};

/// What is asked for a verdict.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The version whose rules apply.
    pub version: ApiVersion,
    /// The whole object.
    pub value: &'a Value,
    /// The object that it replaces, for rules about changes.
    pub old: Option<&'a Value>,
    /// Places whose value is not known, such as those that a template fills in. What is below them is unknown too.
    pub unknown: &'a BTreeSet<Path>,
    /// What the caller knows of the surroundings.
    pub facts: &'a Facts,
}

/// A rule that could not be decided. It is neither passed nor failed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NotChecked {
    /// The place that the rule speaks of.
    pub path: Path,
    /// The rule's id, or its CEL expression.
    pub rule: String,
    /// What is missing.
    pub reason: String,
}

/// The verdict.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// What was found: first what the API server says, in its order, then the rules beyond it.
    pub findings: Vec<Finding>,
    /// What could not be decided.
    pub not_checked: Vec<NotChecked>,
    /// The model of a v1alpha2 resource that passed all checks but those about other objects: a Secret that is missing
    /// is an error, and changes nothing about the config. Whether a config can be generated from it is another
    /// question: that depends on the base config too.
    pub model: Option<Validated>,
    /// The config of the model, where it is generated from a base config that this program has.
    pub generated: Option<Generated>,
}

/// Judges a resource. Every surface asks here, so all of them say the same.
#[must_use]
pub fn verdict(request: &Request<'_>) -> Outcome {
    verdict_on(request, None)
}

/// The objects that a resource names and that its pods need: what a caller looks up to fill in [`Facts`].
#[must_use]
pub fn references<'a>(request: &Request<'a>) -> Vec<Reference<'a>> {
    rules::references(&Subject::new(request, None))
}

/// The part of the verdict that depends on the Secrets and ConfigMaps of [`Facts`], for a caller that asks again
/// whenever one of them changes.
#[must_use]
pub fn reference_findings(request: &Request<'_>) -> Vec<Finding> {
    let mut report = Report::default();
    rules::judge_references(&Subject::new(request, None), &mut report);
    report.findings
}

/// The verdict where the base config is known to be another than the embedded one, such as that of the image's labels.
#[must_use]
pub fn verdict_on(request: &Request<'_>, base: Option<&Base>) -> Outcome {
    let schema = schema::validate(request.version, request.value, request.old, request.unknown);
    let mut outcome = Outcome {
        findings: schema.faults.into_iter().map(schema::finding).collect(),
        not_checked: schema.not_checked.into_iter().map(schema::not_checked).collect(),
        ..Outcome::default()
    };
    let subject = Subject::new(request, base);
    if request.version == ApiVersion::V1Alpha2 {
        let known = fold::drafts(request.value).into_iter().filter(|finding| subject.is_known(&finding.path));
        known.for_each(|finding| explain(&mut outcome, finding));
    }
    let mut report = Report::default();
    rules::check(&subject, &mut report);
    add(&mut outcome, report);
    if outcome.findings.iter().any(|finding| finding.severity == Severity::Error && !rules::is_about_objects(finding)) {
        remedies::add(&subject, &mut outcome.findings);
        return outcome;
    }
    outcome.model = match request.version {
        ApiVersion::V1Alpha2 => Validated::read(schema.defaulted),
        ApiVersion::V1Alpha1 => None,
    };
    if let Some(model) = &outcome.model {
        let mut report = Report::default();
        outcome.generated = generation(model, request, base, &mut report);
        add(&mut outcome, report);
    }
    remedies::add(&subject, &mut outcome.findings);
    outcome
}

/// Adds what is known about a shape that the schema refuses: in place of the schema's complaint about the same place,
/// whose words of the API server are kept.
fn explain(outcome: &mut Outcome, finding: Finding) {
    match outcome.findings.iter_mut().find(|earlier| earlier.path == finding.path) {
        Some(earlier) => {
            let (server_text, server_path) = (earlier.server_text.take(), earlier.server_path.take());
            *earlier = Finding { server_text, server_path, ..finding };
        }
        None => outcome.findings.push(finding),
    }
}

/// Adds what rules found. What has been said before is not said again; its places and fixes are kept.
fn add(outcome: &mut Outcome, report: Report) {
    for finding in report.findings {
        if finding.rule == "llsd::schema::misplaced-field" {
            explain(outcome, finding);
            continue;
        }
        if let Some(earlier) = outcome.findings.iter_mut().find(|earlier| crd_says(earlier, &finding)) {
            locate(earlier, finding);
            continue;
        }
        let repeats = |earlier: &Finding| {
            earlier.rule == finding.rule && earlier.path == finding.path && earlier.message == finding.message
        };
        if !outcome.findings.iter().any(repeats) {
            outcome.findings.push(finding);
        }
    }
    outcome.not_checked.extend(report.not_checked);
}

/// Whether a rule of the CRD has found what one of the rules beyond it says more exactly.
fn crd_says(earlier: &Finding, finding: &Finding) -> bool {
    let same_words = |words: &str| earlier.message.starts_with(words);
    if earlier.server_text.is_none() {
        return false;
    }
    match finding.rule {
        "llsd::provider::duplicate-id" => finding.message.starts_with(&format!("{}:", earlier.message)),
        "llsd::disabled::has-providers" => earlier.message == finding.message,
        "llsd::metadata::name" => {
            same_words("metadata.name must") && earlier.message.contains("dots") == finding.message.contains("dots")
        }
        "llsd::networking::label-value" => same_words("labels takes label keys") && finding.path == earlier.path,
        _ => false,
    }
}

/// Gives a finding of the CRD's rules the exact place and the fixes of another. Its words stay those of the API server.
fn locate(earlier: &mut Finding, finding: Finding) {
    if finding.rule != "llsd::disabled::has-providers" && finding.path != earlier.path {
        earlier.server_path.get_or_insert_with(|| earlier.path.to_string());
        earlier.path = finding.path;
    }
    earlier.rule = finding.rule;
    earlier.related.extend(finding.related);
    earlier.fixes.extend(finding.fixes);
}

/// Generates the config of a resource from the given base config, else from the embedded one of its distribution.
/// What an image brings in its labels is not known here.
fn generation(model: &Validated, request: &Request<'_>, base: Option<&Base>, report: &mut Report) -> Option<Generated> {
    let spec = model.spec();
    if ConfigSource::of(spec) != ConfigSource::Generated {
        return None;
    }
    let base = match base.cloned().map_or_else(|| Base::embedded(&spec.distribution), Ok) {
        Ok(base) => base,
        Err(error) => {
            let reason = "the base config of an image is in its labels, which are not known here";
            report.not_checked(error.rule(), &error.path(), reason);
            return None;
        }
    };
    let assumed = || Catalog::for_version(request.facts.llama_stack_version.as_deref()?);
    let replaced = || Catalog::for_version(&version_of_image(request.facts.image.as_deref()?)?);
    match generate(model, &base, replaced().or_else(|| target(spec).0).or_else(assumed)) {
        Ok(generated) => {
            report.findings.extend(generated.warnings.iter().cloned());
            Some(generated)
        }
        // What a template will fill in may be what the error is about, wherever it shows.
        Err(error) if request.unknown.iter().any(decides_config) => {
            report.not_checked(error.rule(), &error.path(), "values that the config is made from are not known");
            None
        }
        Err(error) => {
            report.add(error.finding());
            None
        }
    }
}

/// Whether the config is made from the value at `path`, or depends on it: of external providers on their ids alone.
fn decides_config(path: &Path) -> bool {
    let name = |position: usize| match path.segments().get(position) {
        Some(Segment::Key(name)) => Some(name.as_str()),
        _ => None,
    };
    name(0) == Some("spec")
        && match name(1) {
            Some("workload" | "networking") => false,
            // spec.externalProviders.<api>[<number>].<field>
            Some("externalProviders") => name(4).is_none_or(|field| field == "providerId"),
            _ => true,
        }
}
