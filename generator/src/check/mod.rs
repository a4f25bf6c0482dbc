//! The verdict on a resource.

pub(crate) mod context;
mod drafts;
pub mod facts;
pub mod finding;
mod findings;
pub mod header;
pub(crate) mod mounted_files;
mod operations;
pub mod part;
pub(crate) mod rule;
pub mod rules;
mod schema;

pub use crate::validated::Validated;
pub use drafts::drafts;
pub use facts::Facts;
pub use operations::judge_operations;
pub use rule::Rule;
pub use rules::unquoted_variables;

use crate::api::ApiVersion;
use crate::catalog::Catalog;
use crate::distribution::version_of_image;
use crate::generate::{Base, ConfigSource, Generated, generate, target};
use crate::path::{Path, Segment};
pub use crate::references::{Reference, ReferenceKind};
use context::{Report, RuleContext};
use finding::{Cause, Finding, FixEdit, Severity};
use findings::Findings;
use serde_json::Value;
use std::collections::BTreeSet;

/// What is asked for a verdict.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The version whose rules apply.
    pub version: ApiVersion,
    /// The whole object, `apiVersion` and `metadata` included, as plain JSON.
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
    /// What would have to be known to decide, as an explanation for the user.
    pub reason: String,
}

/// All that a check has to say about one object: findings, what was not checked, and the config that came out.
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

/// The objects of its own namespace that a resource names and cannot do without: what a caller looks up to fill in
/// [`Facts`].
#[must_use]
pub fn required_references<'a>(request: &Request<'a>) -> Vec<Reference<'a>> {
    rules::required(&RuleContext::new(request, None)).cloned().collect()
}

/// The part of the verdict that depends on the Secrets and ConfigMaps of [`Facts`], for a caller that asks again
/// whenever one of them changes.
#[must_use]
pub fn reference_findings(request: &Request<'_>) -> Vec<Finding> {
    let mut report = Report::default();
    let context = RuleContext::new(request, None);
    rules::references::check(&context, &mut report);
    rules::config_key::check(&context, &mut report);
    report.findings
}

/// The part of the verdict that depends on what the values of those Secrets and ConfigMaps are read as. `generated`: the
/// config that came out of the resource, if one did.
#[must_use]
pub fn reading_findings(request: &Request<'_>, generated: Option<&Generated>) -> Vec<Finding> {
    let mut report = Report::default();
    let context = RuleContext::new(request, None);
    rules::becomes_number::check(&context, &mut report);
    if let Some(generated) = generated {
        rules::becomes_number::check_generated(&context, generated, &mut report);
    }
    report.findings
}

/// The verdict where the base config is known to be another than the embedded one, such as that of the image's labels.
#[must_use]
pub fn verdict_on(request: &Request<'_>, base: Option<&Base>) -> Outcome {
    if let Some(part) = &request.facts.part {
        return part::judge(request, part);
    }
    let base = base.or_else(|| request.facts.bases.of(request.version, request.value));
    let schema = schema::validate(request.version, request.value, request.old, request.unknown);
    let mut findings = Findings::of_schema(schema.faults.into_iter().map(schema::finding).collect());
    let mut not_checked: Vec<NotChecked> = schema.not_checked.into_iter().map(schema::not_checked).collect();
    let context = RuleContext::new(request, base);
    let mut add = |findings: &mut Findings, report: Report| {
        report.findings.into_iter().for_each(|finding| findings.add(finding));
        not_checked.extend(report.not_checked);
    };
    let mut report = Report::default();
    rules::check(&context, &mut report);
    add(&mut findings, report);
    let is_valid = !findings.iter().any(is_about_the_resource);
    let mut generated = None;
    let mut model = None;
    match request.version {
        ApiVersion::V1Alpha2 if is_valid => model = Validated::read(schema.defaulted),
        ApiVersion::OgxV1Beta1 if is_valid => {
            let mut report = Report::default();
            generated = crate::ogx::verdict::judge(&schema.defaulted, &context, request, base, &mut report);
            add(&mut findings, report);
        }
        _ => {}
    }
    if let Some(model) = &model {
        let mut report = Report::default();
        generated = generation(model, request, base, &mut report);
        add(&mut findings, report);
    }
    if let Some(generated) = &generated {
        let mut report = Report::default();
        rules::replicas::generated(&context, generated.config.tree(), &mut report);
        rules::becomes_number::check_generated(&context, generated, &mut report);
        add(&mut findings, report);
    }
    let mut findings = findings.into_vec();
    findings.iter_mut().for_each(|finding| complete_fixes(&context, finding));
    Outcome { findings, not_checked, model, generated }
}

/// Whether the resource itself is not valid, as opposed to an object that it names.
fn is_about_the_resource(finding: &Finding) -> bool {
    finding.severity == Severity::Error && !matches!(finding.cause, Cause::Object(..))
}

/// Takes back fixes that would give an entry the key of another one, and adds those that need the whole object.
fn complete_fixes(context: &RuleContext<'_>, finding: &mut Finding) {
    let takes_name = |edit: &FixEdit| match edit {
        FixEdit::RenameKey { path, to } => {
            path.parent().is_some_and(|parent| parent.key(to).find(context.value()).is_some())
        }
        _ => false,
    };
    finding.fixes.retain(|fix| !fix.edits.iter().any(takes_name));
    if let Some(fixes) = finding.rule.fixes {
        let fixes = fixes(context, finding);
        finding.fixes.extend(fixes);
    }
}

/// Generates the config of a resource from the given base config, else from the embedded one of its distribution.
/// What an image brings in its labels is not known here.
fn generation(model: &Validated, request: &Request<'_>, base: Option<&Base>, report: &mut Report) -> Option<Generated> {
    let spec = model.spec();
    if ConfigSource::of(spec) != ConfigSource::Generated {
        return None;
    }
    let embedded = || Base::embedded(&spec.distribution, request.facts.image.as_deref());
    let base = match base.cloned().map_or_else(embedded, Ok) {
        Ok(base) => base,
        Err(error) => {
            let reason = "the base config of an image is in its labels, which are not known here: --base or bases in llsd.toml names it";
            report.not_checked(error.rule(), &error.path(), reason);
            return None;
        }
    };
    let assumed = || Catalog::for_version(request.facts.llama_stack_version.as_deref()?);
    let replaced = || Catalog::for_version(&version_of_image(request.facts.image.as_deref()?)?);
    match generate(model, &base, replaced().or_else(|| target(spec).0).or_else(assumed)) {
        Ok(generated) => {
            report.findings.extend(generated.warnings.iter().map(Finding::from));
            Some(generated)
        }
        // What a template will fill in may be what the error is about, wherever it shows.
        Err(error) if request.unknown.iter().any(decides_config) => {
            report.not_checked(error.rule(), &error.path(), "values that the config is made from are not known");
            None
        }
        Err(error) => {
            report.add(Finding::from(error));
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
