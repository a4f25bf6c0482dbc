//! Values that the reader of an example should have replaced.

use super::super::context::{Report, RuleContext};
use super::super::finding::{Finding, Severity};
use super::super::rule::{Group, Rule};

pub static PLACEHOLDER: Rule = Rule {
    id: "llsd::value::placeholder",
    severity: Severity::Information,
    summary: "A value is a placeholder such as <namespace>.",
    why: "It has to be replaced before the resource is applied. Until then nothing else is said about it.",
    example: "metadata:\n  namespace: <your-namespace>",
    ..Rule::PLAIN
};

pub(super) static GROUP: Group = Group { rules: &[&PLACEHOLDER], check: Some(check) };

pub(in crate::check) fn check(context: &RuleContext<'_>, report: &mut Report) {
    let stand_ins: Vec<_> = context
        .env()
        .into_iter()
        .filter_map(|(_, path, _)| Some((path.key("value"), context.text(&path.key("value"))?)))
        .filter(|(_, text)| is_stand_in(&text.to_ascii_lowercase()))
        .collect();
    let unknown = context.placeholders().map(|(path, text)| (path.clone(), text));
    for (path, text) in unknown.chain(stand_ins) {
        let message = format!("\"{text}\" is a placeholder: replace it before this is applied");
        report.add(Finding::new(&PLACEHOLDER, path, message));
    }
}

/// Whether a value, in lower case, tells the reader to write their own: `your-api-key`, `changeme`.
pub(super) fn is_stand_in(value: &str) -> bool {
    let first = value.split(|char: char| !char.is_ascii_alphanumeric()).next().unwrap_or_default();
    (first == "your" && value.len() > first.len())
        || matches!(value, "changeme" | "change-me" | "replace-me" | "replaceme")
}
