//! Provider ids. Source: models name providers by id alone, and variables are named after it, so ids are unique over all
//! lists, implicit ones included.

use super::super::context::{Report, RuleContext};
use super::super::finding::{Finding, Fix, FixEdit, Severity};
use super::super::rule::{Group, Rule};
use crate::api::CrdRule;
use crate::generate::GenerateError;
use crate::path::Path;
use serde_json::Value;
use std::collections::HashMap;

pub static DUPLICATE_ID: Rule = Rule {
    id: "llsd::provider::duplicate-id",
    severity: Severity::Error,
    summary: "Two providers have the same id. A provider without id has the part of its type after the last \"::\".",
    why: "Models name providers by id, and the variables that carry secrets are named after it.",
    example: "providers:\n  inference:\n    - {id: main, provider: vllm}\n    - {id: main, provider: openai}",
    refines: &[CrdRule::UniqueIds],
    fixes: Some(another_id),
    ..Rule::PLAIN
};

pub(super) static GROUP: Group = Group { rules: &[&DUPLICATE_ID], check: Some(check) };

pub(in crate::check) fn check(context: &RuleContext<'_>, report: &mut Report) {
    let mut seen: HashMap<&str, (usize, Path)> = HashMap::new();
    let mut repeated = Vec::new();
    for (number, entry) in context.providers().iter().enumerate() {
        let Some(id) = entry.id else { continue };
        let second = entry.id_path();
        match seen.get(id) {
            None => _ = seen.insert(id, (number, second)),
            Some((before, first)) => {
                let error = GenerateError::DuplicateProvider { id: id.to_owned(), first: first.clone(), second };
                repeated.push((*before, error));
            }
        }
    }
    // The CRD's rule names the id that is used first, so that finding has to be the first one.
    repeated.sort_by_key(|(before, _)| *before);
    repeated.into_iter().for_each(|(_, error)| report.add(Finding::from(error)));
}

/// Another id for the second provider.
fn another_id(context: &RuleContext<'_>, finding: &Finding) -> Vec<Fix> {
    let Some((entry, id)) = context.provider_at(&finding.path).and_then(|entry| Some((entry, entry.id?))) else {
        return Vec::new();
    };
    let new = free(id, |taken| context.provider_ids().contains(taken));
    let path = entry.path.key("id");
    let value = Value::from(new.as_str());
    let edit = if entry.has_id() { FixEdit::Replace { path, value } } else { FixEdit::Insert { path, value } };
    vec![Fix::new(format!("Give it the id \"{new}\""), vec![edit])]
}

/// The id, or with the first number behind it that makes it another one.
pub(super) fn free(id: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let numbered = (2..).map(|number| format!("{id}-{number}"));
    std::iter::once(id.to_owned()).chain(numbered).find(|id| !is_taken(id)).unwrap_or_default()
}
