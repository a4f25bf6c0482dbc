//! Values that the reader of an example should have replaced.

use super::super::finding::{Finding, Severity};
use super::super::subject::{Report, Subject};
use super::RuleInfo;

pub(super) const RULES: &[RuleInfo] = &[RuleInfo {
    id: "llsd::value::placeholder",
    severity: Severity::Information,
    summary: "A value is a placeholder such as <namespace>.",
    why: "It has to be replaced before the resource is applied. Until then nothing else is said about it.",
    example: "metadata:\n  namespace: <your-namespace>",
}];

pub(in crate::check) fn check(subject: &Subject<'_>, report: &mut Report) {
    for (path, text) in subject.placeholders() {
        let message = format!("\"{text}\" is a placeholder: replace it before this is applied");
        report.add(Finding::new("llsd::value::placeholder", Severity::Information, path.clone(), message));
    }
}
