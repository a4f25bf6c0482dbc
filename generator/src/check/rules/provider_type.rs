//! Provider types. Source: contract section 3, the catalogs of section 4; llama-stack exits on a type that it does
//! not know.

use super::super::finding::{Finding, Severity, Tag};
use super::super::subject::{Report, Subject};
use super::RuleInfo;
use crate::generate::GenerateError;

pub(super) const RULES: &[RuleInfo] = &[
    RuleInfo {
        id: "llsd::provider::unknown-type",
        severity: Severity::Error,
        summary: "The llama-stack version of the distribution has no such provider type for this API.",
        why: "llama-stack does not start with a provider type that it does not have.",
        example: "providers:\n  inference:\n    - provider: vlm",
    },
    RuleInfo {
        id: "llsd::provider::deprecated-type",
        severity: Severity::Warning,
        summary: "The provider type is on its way out.",
        why: "A later llama-stack version will not have it, and an upgrade would fail.",
        example: "providers:\n  vectorIo:\n    - provider: inline::meta-reference",
    },
];

pub(in crate::check) fn check(subject: &Subject<'_>, report: &mut Report) {
    for entry in subject.providers() {
        let path = entry.path.key("provider");
        match subject.resolved(entry) {
            Some(Err(error)) => {
                let error = Box::new(error.clone());
                report.add(GenerateError::ProviderType { path, error }.finding());
            }
            Some(Ok(known)) => {
                if let Some(advice) = &known.deprecated {
                    let message = format!("{} is deprecated: {advice}", known.provider_type);
                    let mut finding = Finding::warning("llsd::provider::deprecated-type", path, message);
                    finding.tags.push(Tag::Deprecated);
                    report.add(finding);
                }
            }
            None if entry.written.is_some() => {
                let reason = "no provider catalog for the llama-stack version of this distribution";
                report.not_checked("llsd::provider::unknown-type", &path, reason);
            }
            None => {}
        }
    }
}
