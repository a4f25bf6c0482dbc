//! Provider ids. Source: contract section 2: unique over all lists, implicit ids included.

use super::super::finding::Severity;
use super::super::subject::{Report, Subject};
use super::RuleInfo;
use crate::generate::GenerateError;
use crate::path::Path;
use std::collections::HashMap;

pub(super) const RULES: &[RuleInfo] = &[RuleInfo {
    id: "llsd::provider::duplicate-id",
    severity: Severity::Error,
    summary: "Two providers have the same id. A provider without id has the part of its type after the last \"::\".",
    why: "Models name providers by id, and the variables that carry secrets are named after it.",
    example: "providers:\n  inference:\n    - {id: main, provider: vllm}\n    - {id: main, provider: openai}",
}];

pub(in crate::check) fn check(subject: &Subject<'_>, report: &mut Report) {
    let mut seen: HashMap<&str, Path> = HashMap::new();
    for entry in subject.providers() {
        let Some(id) = entry.id else { continue };
        let second = entry.id_path();
        match seen.get(id) {
            None => _ = seen.insert(id, second),
            Some(first) => {
                report.add(
                    GenerateError::DuplicateProvider { id: id.to_owned(), first: first.clone(), second }.finding(),
                );
            }
        }
    }
}
