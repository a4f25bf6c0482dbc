//! Provider types. Source: the catalogs; llama-stack exits on a type that it does not know.

use super::super::context::{Report, RuleContext};
use super::super::finding::{Finding, Fix, Severity, Tag};
use super::super::rule::{Group, Rule};
use crate::generate::GenerateError;

pub static UNKNOWN_TYPE: Rule = Rule {
    id: "llsd::provider::unknown-type",
    severity: Severity::Error,
    summary: "The llama-stack version of the distribution has no such provider type for this API.",
    why: "llama-stack does not start with a provider type that it does not have.",
    example: "providers:\n  inference:\n    - provider: vlm",
    ..Rule::PLAIN
};

pub static DEPRECATED_TYPE: Rule = Rule {
    id: "llsd::provider::deprecated-type",
    severity: Severity::Warning,
    summary: "The provider type is on its way out.",
    why: "A later llama-stack version will not have it, and an upgrade would fail.",
    example: "providers:\n  vectorIo:\n    - provider: inline::meta-reference",
    fixes: Some(successor),
    ..Rule::PLAIN
};

pub(super) static GROUP: Group = Group { rules: &[&UNKNOWN_TYPE, &DEPRECATED_TYPE], check: Some(check) };

pub(in crate::check) fn check(context: &RuleContext<'_>, report: &mut Report) {
    for entry in context.providers() {
        let path = entry.path.key("provider");
        match context.resolved(entry) {
            Some(Err(error)) => {
                let error = Box::new(error.clone());
                report.add(Finding::from(GenerateError::ProviderType { path, error }));
            }
            Some(Ok(known)) => {
                if let Some(advice) = &known.deprecated {
                    let message = format!("{} is deprecated: {advice}", known.provider_type);
                    let mut finding = Finding::new(&DEPRECATED_TYPE, path, message);
                    finding.tags.push(Tag::Deprecated);
                    report.add(finding);
                }
            }
            None if entry.written.is_some() => {
                let reason = "no provider catalog for the llama-stack version of this distribution";
                report.not_checked(&UNKNOWN_TYPE, &path, reason);
            }
            None => {}
        }
    }
}

/// The type that takes the place of a deprecated one.
fn successor(context: &RuleContext<'_>, finding: &Finding) -> Vec<Fix> {
    let Some(entry) = context.provider_at(&finding.path) else { return Vec::new() };
    let Some(Ok(known)) = context.resolved(entry) else { return Vec::new() };
    known.successor.iter().map(|name| Fix::change_to(finding.path.clone(), name)).collect()
}
