//! Variables that carry secrets. Source: their names are `LLSD_<ID>_<FIELD>`, in which every other
//! character becomes `_`, so different ids can meet in one name.

use super::super::context::{Report, RuleContext};
use super::super::finding::{Finding, Severity};
use super::super::rule::{Group, Rule};
use crate::generate::{GenerateError, variable_name};
use crate::path::Path;
use serde_json::Value;
use std::collections::HashMap;

pub static VARIABLE_CLASH: Rule = Rule {
    id: "llsd::secret::variable-clash",
    severity: Severity::Error,
    summary: "Two secrets would be handed to the server in one environment variable.",
    why: "The variable's name is made of the provider's id and the field; characters other than letters and digits \
    become \"_\". One of the two providers would get the other's secret.",
    example: "providers:\n  inference:\n    - {id: a-b, provider: openai, apiKey: …}\n    - {id: a_b, provider: openai, apiKey: …}",
    ..Rule::PLAIN
};

pub(super) static GROUP: Group = Group { rules: &[&VARIABLE_CLASH], check: Some(check) };

pub(in crate::check) fn check(context: &RuleContext<'_>, report: &mut Report) {
    let mut seen: HashMap<String, (Path, &Value)> = HashMap::new();
    for entry in context.providers() {
        let Some(id) = entry.id else { continue };
        let mut secrets: Vec<(String, Path, &Value)> = Vec::new();
        if let Some(secret) = entry.value.get("apiKey") {
            secrets.push((variable_name(id, "API_KEY"), entry.path.key("apiKey"), secret));
        }
        for (key, secret) in entry.value.get("secretRefs").and_then(Value::as_object).into_iter().flatten() {
            secrets.push((variable_name(id, key), entry.path.key("secretRefs").key(key), secret));
        }
        for (variable, second, secret) in secrets {
            match seen.get(&variable) {
                None => _ = seen.insert(variable, (second, secret)),
                Some((_, other)) if *other == secret => {}
                Some((first, _)) => {
                    let first = first.clone();
                    report.add(Finding::from(GenerateError::VariableClash { variable, first, second }));
                }
            }
        }
    }
}
