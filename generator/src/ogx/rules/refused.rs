//! What the server says of the config that the operator makes. Source: the config's verdict by version, which agrees with
//! the real servers; upstream's generator, whose errors are its own words.

use crate::check::finding::{Finding, Fix, FixEdit, Severity};
use crate::check::rule::{Group, Rule};
use crate::check::rules::{generation, secret_variable, server_config};
use crate::ogx::custom;
use crate::ogx::generate::Error;
use crate::ogx::providers::{Entry, entries};
use crate::path::Path;
use serde_json::{Value, json};

pub static REFUSED: Rule = Rule {
    id: "llsd::ogx::refused",
    severity: Severity::Error,
    summary: "The ogx server refuses what the operator makes of this field.",
    why: "The operator writes provider types that no ogx has, and leaves out settings that ogx asks for. The API server \
    accepts the resource, and the pod never becomes ready. The field custom takes the type and the settings that ogx has.",
    example: "kind: OGXServer\nspec:\n  providers:\n    batches:\n      inline:\n        reference: {maxConcurrentBatches: 1}",
    ..Rule::PLAIN
};

pub static IGNORED: Rule = Rule {
    id: "llsd::ogx::ignored",
    severity: Severity::Warning,
    summary: "The ogx server does not read what the operator makes of this field.",
    why: "ogx ignores keys that it does not know, without a word, so that what was meant never happens.",
    example: "kind: OGXServer\nspec:\n  providers:\n    inference:\n      remote:\n        bedrock:\n          - {region: us-east-1, apiKey: {name: aws, key: token}}",
    ..Rule::PLAIN
};

pub static BROKEN_SETTINGS: Rule = Rule {
    id: "llsd::ogx::broken-settings",
    severity: Severity::Error,
    summary: "The settings of a custom provider are no mapping, or have a key that secretRefs has, too.",
    why: "The operator cannot make a config of it, and the resource fails.",
    example: "kind: OGXServer\nspec:\n  providers:\n    inference:\n      remote:\n        custom:\n          - type: remote::vllm\n            secretRefs: {api_token: {name: vllm, key: token}}\n            settings: {api_token: none}",
    ..Rule::PLAIN
};

pub(crate) static GROUP: Group = Group { rules: &[&REFUSED, &IGNORED, &BROKEN_SETTINGS], check: None };

/// The rule that an error of generation breaks.
pub(crate) fn rule_of(error: &Error) -> &'static Rule {
    match error {
        Error::Base(_) | Error::NoVersion => &generation::UNUSABLE_BASE_CONFIG,
        Error::Variable { .. } => &secret_variable::VARIABLE_CLASH,
        Error::SettingTwice { .. } | Error::Settings { .. } => &BROKEN_SETTINGS,
        Error::NoProvider { .. } => &generation::NO_PROVIDER,
    }
}

/// The error where it stands in the resource.
pub(crate) fn finding(error: &Error) -> Finding {
    let finding = Finding::new(rule_of(error), error.path(), error.to_string());
    match error {
        Error::Variable { first, .. } => finding.with_related(first.clone(), "The other secret of this variable"),
        Error::SettingTwice { path, .. } => finding.with_fix(Fix::remove("Remove the setting", path.clone())),
        _ => finding,
    }
}

/// Whether what is said of a provider in a config does not depend on the rest of that config.
pub(crate) fn is_about_itself(said: &Finding) -> bool {
    let own: [&Rule; 5] = [
        &server_config::UNKNOWN_TYPE,
        &server_config::UNKNOWN_KEY,
        &server_config::RENAMED_KEY,
        &server_config::WRONG_VALUE,
        &server_config::MISSING,
    ];
    own.contains(&said.rule)
}

/// What the server says of the config, at the place in the resource that it comes from.
pub(crate) fn by_server(said: &Finding, place: Path, object: &Value) -> Finding {
    let rule = if said.severity == Severity::Error { &REFUSED } else { &IGNORED };
    let all = entries(object);
    let entry = all.iter().find(|entry| place.starts_with(&entry.path));
    // A model is known to its provider, which may be another provider's fault; its own place says it best.
    let what = match entry {
        Some(entry) if place == entry.path => format!("provider \"{}\": {}", entry.id(), said.message),
        _ => said.message.clone(),
    };
    let mut finding = Finding::new(rule, place, what).weighing(said.severity);
    finding.fixes.extend(entry.and_then(|entry| as_custom(entry, object)));
    finding
}

/// Writes a typed provider as a custom one. Not for `llsd fix`: it chooses where the server keeps its data.
fn as_custom(entry: &Entry<'_>, object: &Value) -> Option<Fix> {
    let item = custom::of(entry)?;
    let list = custom::list_beside(entry);
    let side = list.parent()?;
    let others = side.find(object).and_then(Value::as_object)?;
    let is_alone = others.len() == 1 && entry.path.find(object).is_some() && !has_neighbours(entry, object);
    let edits = if is_alone {
        vec![FixEdit::Replace { path: side, value: json!({"custom": [item]}) }]
    } else {
        match list.find(object).and_then(Value::as_array) {
            Some(there) => {
                let insert = FixEdit::Insert { path: list.index(there.len()), value: item };
                vec![insert, FixEdit::Remove { path: entry.path.clone() }]
            }
            None => {
                let insert = FixEdit::Insert { path: list, value: json!([item]) };
                vec![insert, FixEdit::Remove { path: entry.path.clone() }]
            }
        }
    };
    Some(Fix::new("Write it as a custom provider", edits))
}

/// Whether the list that a provider stands in has others.
fn has_neighbours(entry: &Entry<'_>, object: &Value) -> bool {
    let list = entry.path.parent().and_then(|list| list.find(object)?.as_array().map(Vec::len));
    list.is_some_and(|count| count > 1)
}
