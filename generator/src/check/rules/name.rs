//! The resource's name. Source: contract section 1; children are called `<name>-<suffix>`, with suffixes of up to 15
//! characters, and Services take DNS labels only.

use super::super::finding::{Finding, Severity};
use super::super::subject::{Report, Subject};
use super::RuleInfo;
use crate::path::Path;

/// Greatest length of a name.
const MAX: usize = 48;

pub(super) const RULES: &[RuleInfo] = &[
    RuleInfo {
        id: "llsd::metadata::name",
        severity: Severity::Error,
        summary: "The resource's name has more than 48 characters, or a dot.",
        why: "The operator names the Service, the Deployment and others after the resource, with suffixes of up to 15 \
              characters. A Service name has at most 63 characters and no dots, so the resource could never become \
              ready.",
        example: "metadata:\n  name: llama.example.com",
    },
    RuleInfo {
        id: "llsd::metadata::duplicate",
        severity: Severity::Error,
        summary: "Another resource has the same name and namespace.",
        why: "The one that is applied last replaces the other.",
        example: "metadata:\n  name: my-stack\n---\nmetadata:\n  name: my-stack",
    },
];

pub(in crate::check) fn check(subject: &Subject<'_>, report: &mut Report) {
    let path = Path::parse("metadata.name");
    let Some(name) = subject.text(&path) else { return };
    let length = name.chars().count();
    if length > MAX {
        let message = format!(
            "The name has {length} characters, {MAX} are allowed: the operator appends up to 15 for the names of the \
             Service and other objects"
        );
        report.add(Finding::error("llsd::metadata::name", path.clone(), message));
    }
    if name.contains('.') {
        let message = "The name must not contain dots: the Service is named after it, and Service names have none";
        report.add(Finding::error("llsd::metadata::name", path.clone(), message));
    }
    let own = (subject.namespace().to_owned(), name.to_owned());
    if subject.facts.resources.contains(&own) {
        let message = format!("Another LlamaStackDistribution is called \"{name}\" in the same namespace");
        report.add(Finding::error("llsd::metadata::duplicate", path, message));
    }
}
