//! Secrets among the settings of a provider. Source: the settings become the config as they are; only `apiKey` and
//! `secretRefs` are taken out of a Secret.

use super::super::context::{ProviderEntry, Report, RuleContext};
use super::super::finding::{Finding, Fix, FixEdit, Severity};
use super::super::rule::{Group, Rule};
use crate::path::Path;
use serde_json::Value;

/// How deep settings are looked into: deeper than any setting of the catalogs, so that the walk needs no other bound.
const MAX_DEPTH: usize = 8;

pub static SECRET_REF: Rule = Rule {
    id: "llsd::settings::secret-ref",
    severity: Severity::Error,
    summary: "A setting refers to a Secret.",
    why: "Settings are written into the config as they are, so llama-stack gets the reference instead of the value. References to Secrets belong into apiKey or secretRefs.",
    example: "providers:\n  inference:\n    - provider: watsonx\n      settings:\n        api_key: {secretKeyRef: {name: watsonx, key: token}}",
    ..Rule::PLAIN
};

pub(super) static GROUP: Group = Group { rules: &[&SECRET_REF], check: Some(check) };

fn check(context: &RuleContext<'_>, report: &mut Report) {
    for entry in context.providers() {
        let at = entry.path.key("settings");
        for (key, value) in entry.value.get("settings").and_then(Value::as_object).into_iter().flatten() {
            let path = at.key(key);
            match reference(value) {
                Some(steps) => report.add(finding(context, entry, key, &path, steps)),
                None => inside(value, &path, 0, report),
            }
        }
    }
}

/// The steps from a setting's value to the `secretKeyRef` that it is, if it is one: as in `apiKey`, or as in a variable.
pub(super) fn reference(value: &Value) -> Option<&'static [&'static str]> {
    let fields = value.as_object()?;
    if fields.get("secretKeyRef").is_some_and(Value::is_object) {
        return Some(&[]);
    }
    fields.get("valueFrom")?.get("secretKeyRef").filter(|found| found.is_object()).map(|_| &["valueFrom"][..])
}

fn finding(
    context: &RuleContext<'_>,
    entry: &ProviderEntry<'_>,
    key: &str,
    path: &Path,
    steps: &'static [&'static str],
) -> Finding {
    let known = context.resolved(entry).and_then(Result::ok);
    let is_api_key = known.and_then(|known| known.api_key.as_deref()) == Some(key);
    let (field, to) = if is_api_key {
        ("apiKey".to_owned(), entry.path.key("apiKey"))
    } else {
        (format!("secretRefs.{key}"), entry.path.key("secretRefs").key(key))
    };
    let message =
        format!("Settings take no Secrets: llama-stack would get the reference itself. It belongs into {field}");
    let finding = Finding::new(&SECRET_REF, path.clone(), message).at_key();
    if to.find(context.value()).is_some() {
        return finding;
    }
    let from = steps.iter().fold(path.clone(), |path, step| path.key(*step));
    let mut edits = vec![FixEdit::Move { from, to }];
    if !steps.is_empty() {
        edits.push(FixEdit::Remove { path: path.clone() });
    }
    finding.with_fix(Fix { title: format!("Move to {field}"), edits, preferred: steps.is_empty() })
}

/// Deeper settings have no place for secrets at all.
fn inside(value: &Value, path: &Path, depth: usize, report: &mut Report) {
    if depth > MAX_DEPTH {
        return;
    }
    for (key, value) in value.as_object().into_iter().flatten() {
        let path = path.key(key);
        if reference(value).is_some() {
            let message = "Settings take no Secrets: llama-stack would get the reference itself. secretRefs takes settings of \
                           the first level only; overrideConfig can read a variable here";
            report.add(Finding::new(&SECRET_REF, path, message).at_key());
        } else {
            inside(value, &path, depth + 1, report);
        }
    }
}
