//! Settings of providers. Source: the catalogs; llama-stack ignores keys that a provider type does not read, and does
//! not start on values of the wrong type.

use super::super::context::{ProviderEntry, Report, RuleContext};
use super::super::finding::{Finding, Fix, FixEdit, Severity};
use super::super::rule::{Group, Rule};
use super::secret_in_settings;
use crate::catalog::{ConfigKey, KeyKind, ProviderType};
use crate::generate::Warning;
use crate::nearest::nearest;
use crate::path::{Path, Segment};
use indexmap::IndexMap;
use serde_json::Value;

/// How deep settings are compared with the catalog: deeper than any of its keys.
const MAX_DEPTH: usize = 8;

pub static UNKNOWN_KEY: Rule = Rule {
    id: "llsd::settings::unknown-key",
    severity: Severity::Warning,
    summary: "The provider type does not read this setting.",
    why: "llama-stack ignores keys that it does not know, without a word.",
    example: "providers:\n  inference:\n    - provider: vllm\n      settings: {max_token: 4096}",
    fixes: Some(address),
    ..Rule::PLAIN
};

pub static WRONG_TYPE: Rule = Rule {
    id: "llsd::settings::wrong-type",
    severity: Severity::Error,
    summary: "The setting's value is not of the type that the provider type reads.",
    why: "llama-stack checks the types when it starts, and exits.",
    example: "providers:\n  inference:\n    - provider: vllm\n      settings: {max_tokens: many}",
    ..Rule::PLAIN
};

pub static OVERRIDDEN: Rule = Rule {
    id: "llsd::settings::overridden",
    severity: Severity::Warning,
    summary: "endpoint, apiKey or secretRefs set the same key as settings.",
    why: "They win, and the value in settings has no effect.",
    example: "providers:\n  inference:\n    - provider: vllm\n      endpoint: http://vllm:8000/v1\n      settings: {base_url: http://other:8000/v1}",
    fixes: Some(|_, finding| vec![Fix::remove("Remove it, as it has no effect", finding.path.clone())]),
    ..Rule::PLAIN
};

pub static DEPRECATED_KEY: Rule = Rule {
    id: "llsd::settings::deprecated-key",
    severity: Severity::Warning,
    summary: "The setting is on its way out.",
    why: "A later llama-stack version will ignore it.",
    example: "settings: {tls_verify: false}",
    ..Rule::PLAIN
};

pub(super) static GROUP: Group =
    Group { rules: &[&UNKNOWN_KEY, &WRONG_TYPE, &OVERRIDDEN, &DEPRECATED_KEY], check: Some(check) };

pub(in crate::check) fn check(context: &RuleContext<'_>, report: &mut Report) {
    for entry in context.providers() {
        let Some(Ok(known)) = context.resolved(entry) else { continue };
        let at = entry.path.key("settings");
        for (key, value) in entry.value.get("settings").and_then(Value::as_object).into_iter().flatten() {
            let path = at.key(key);
            if let Some(by) = winner(entry, known, key) {
                let warning = Warning::Overridden { path, key: key.clone(), by };
                report.add(Finding::from(&warning));
                continue;
            }
            // References to Secrets are another rule's business.
            if secret_in_settings::reference(value).is_none() {
                one(context, known, &known.config, key, value, &path, 0, report);
            }
        }
        let at = entry.path.key("secretRefs");
        for key in entry.value.get("secretRefs").and_then(Value::as_object).into_iter().flat_map(|map| map.keys()) {
            if !known.open && !known.config.contains_key(key) && !known.config.is_empty() {
                report.add(unknown_key(known, &known.config, key, &at.key(key)));
            }
        }
    }
}

/// The field that sets the same key as a setting.
fn winner(entry: &ProviderEntry<'_>, known: &ProviderType, key: &str) -> Option<String> {
    let has = |field: &str| entry.value.get(field).is_some_and(|value| !value.is_null());
    if has("endpoint") && known.endpoint.as_ref().is_some_and(|endpoint| endpoint.keys().first() == Some(&key)) {
        return Some("endpoint".to_owned());
    }
    if has("apiKey") && known.api_key.as_deref() == Some(key) {
        return Some("apiKey".to_owned());
    }
    entry.value.get("secretRefs")?.get(key).map(|_| format!("secretRefs.{key}"))
}

#[expect(clippy::too_many_arguments, reason = "one step of a walk that carries its surroundings")]
fn one(
    context: &RuleContext<'_>,
    provider: &ProviderType,
    keys: &IndexMap<String, ConfigKey>,
    name: &str,
    value: &Value,
    path: &Path,
    depth: usize,
    report: &mut Report,
) {
    if !context.is_known(path) || depth > MAX_DEPTH {
        return;
    }
    let Some(known) = keys.get(name) else {
        // A mapping without declared keys, and a provider that hands keys on, take any.
        if !keys.is_empty() && !provider.open {
            report.add(unknown_key(provider, keys, name, path));
        }
        return;
    };
    if known.deprecated {
        let message = format!("\"{name}\" of {} is deprecated. {}", provider.provider_type, known.description);
        let mut finding = Finding::new(&DEPRECATED_KEY, path.clone(), message).at_key();
        finding.tags.push(super::super::finding::Tag::Deprecated);
        report.add(finding);
    }
    if let Some(message) = wrong(known, value) {
        let message = format!("\"{name}\" of {} {message}", provider.provider_type);
        let finding = Finding::new(&WRONG_TYPE, path.clone(), message);
        report.add(match unquoted(known, value) {
            Some(plain) => {
                let title = format!("Write {plain}, without quotes");
                finding.with_fix(Fix { preferred: true, ..Fix::replace(title, path.clone(), plain) })
            }
            None => finding,
        });
        return;
    }
    if let (KeyKind::Object(inner), Value::Object(entries)) = (&known.kind, value) {
        for (key, value) in entries.iter().filter(|(_, value)| secret_in_settings::reference(value).is_none()) {
            one(context, provider, inner, key, value, &path.key(key), depth + 1, report);
        }
    }
    for (name, place, value) in held(name, value, path).into_iter().filter(|(_, place, _)| context.is_known(place)) {
        if let Some(message) = known.items.as_deref().and_then(|item| wrong(item, value)) {
            let message = format!("\"{name}\" of {} {message}", provider.provider_type);
            report.add(Finding::new(&WRONG_TYPE, place, message));
        }
    }
}

/// What a list or a mapping holds: name below the key, place and value of each.
pub(crate) fn held<'v>(name: &str, value: &'v Value, path: &Path) -> Vec<(String, Path, &'v Value)> {
    match value {
        Value::Array(items) => {
            let items = items.iter().enumerate();
            items.map(|(at, item)| (format!("{name}[{at}]"), path.index(at), item)).collect()
        }
        Value::Object(entries) => {
            entries.iter().map(|(key, value)| (format!("{name}.{key}"), path.key(key.as_str()), value)).collect()
        }
        _ => Vec::new(),
    }
}

fn unknown_key(provider: &ProviderType, keys: &IndexMap<String, ConfigKey>, name: &str, path: &Path) -> Finding {
    let kind = &provider.provider_type;
    let message = format!("{kind} does not read \"{name}\": llama-stack ignores it");
    let mut finding = Finding::new(&UNKNOWN_KEY, path.clone(), message).at_key();
    // Fields of the resource that users put among the settings.
    let field = match name {
        "endpoint" | "url" | "base_url" if provider.endpoint.is_some() => Some("endpoint"),
        _ => None,
    };
    if let Some(closest) = nearest(name, keys.keys().map(String::as_str)) {
        finding.message =
            format!("{kind} does not read \"{name}\", llama-stack ignores it. Did you mean \"{closest}\"?");
        let edits = vec![FixEdit::RenameKey { path: path.clone(), to: closest.to_owned() }];
        finding = finding.with_fix(Fix { title: format!("Rename to \"{closest}\""), edits, preferred: true });
    } else if let Some(field) = field {
        finding.message =
            format!("{kind} does not read \"{name}\", llama-stack ignores it. The address belongs into {field}");
    } else {
        let known = keys.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
        finding.message = format!("{kind} does not read \"{name}\": llama-stack ignores it. It reads {known}");
    }
    finding
}

/// What is wrong with a value; `None` if llama-stack takes it, or if its environment decides.
pub(crate) fn wrong(known: &ConfigKey, value: &Value) -> Option<String> {
    if value.as_str().is_some_and(|text| text.contains("${")) {
        return None;
    }
    if value.is_null() {
        return (known.required && !known.nullable).then(|| "must not be null".to_owned());
    }
    let expected = known.kind.name();
    let fits = match &known.kind {
        KeyKind::Any => true,
        // A text is the path of a certificate, and llama-stack exits if there is no such file.
        KeyKind::BooleanOrPath => match value {
            Value::Bool(_) => true,
            Value::String(text) => !truth(value) && !text.trim().is_empty(),
            _ => false,
        },
        KeyKind::String => value.is_string(),
        KeyKind::Integer => integral(value),
        KeyKind::Number => value.is_number() || value.as_str().is_some_and(|text| text.trim().parse::<f64>().is_ok()),
        KeyKind::Boolean => truth(value),
        KeyKind::Array => value.is_array(),
        KeyKind::Object(_) => value.is_object(),
    };
    if !fits && matches!(known.kind, KeyKind::BooleanOrPath) {
        return Some("must be true or false, without quotes, or the path of a file with certificates".to_owned());
    }
    if !fits {
        let article = if expected.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
        return Some(format!("must be {article} {expected}"));
    }
    if !known.values.is_empty() && value.is_string() && !known.values.contains(value) {
        let words: Vec<String> = known.values.iter().map(Value::to_string).collect();
        return Some(format!("must be one of {}", words.join(", ")));
    }
    if known.url && value.as_str().is_some_and(|text| !text.starts_with("http://") && !text.starts_with("https://")) {
        return Some("must be a URL that starts with http:// or https://".to_owned());
    }
    None
}

/// The truth value that a text was meant to be.
fn unquoted(known: &ConfigKey, value: &Value) -> Option<bool> {
    let text = value.as_str().filter(|_| matches!(known.kind, KeyKind::BooleanOrPath))?;
    match text.trim().to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "1" => Some(true),
        "false" | "no" | "off" | "0" => Some(false),
        _ => None,
    }
}

fn integral(value: &Value) -> bool {
    match value {
        Value::Number(number) => {
            number.is_i64() || number.is_u64() || number.as_f64().is_some_and(|float| float.fract() == 0.0)
        }
        Value::String(text) => text.trim().parse::<i64>().is_ok(),
        _ => false,
    }
}

/// What pydantic reads as a truth value.
fn truth(value: &Value) -> bool {
    match value {
        Value::Bool(_) => true,
        Value::Number(number) => matches!(number.as_i64(), Some(0 | 1)),
        Value::String(text) => matches!(
            text.to_ascii_lowercase().as_str(),
            "true" | "false" | "yes" | "no" | "on" | "off" | "t" | "f" | "y" | "n" | "1" | "0"
        ),
        _ => false,
    }
}

/// An address under a name that another provider type, or the resource itself, has for it.
fn address(context: &RuleContext<'_>, finding: &Finding) -> Vec<Fix> {
    let path = &finding.path;
    let Some(Segment::Key(name)) = path.last() else { return Vec::new() };
    if !finding.fixes.is_empty() || nearest(name, ["url", "uri", "base_url", "endpoint"]).is_none() {
        return Vec::new();
    }
    let entry = context.provider_at(path).filter(|entry| path.parent() == Some(entry.path.key("settings")));
    let Some(entry) = entry else { return Vec::new() };
    let Some(Ok(known)) = context.resolved(entry) else { return Vec::new() };
    let Some(endpoint) = known.endpoint.as_ref().filter(|_| !entry.value.contains_key("endpoint")) else {
        return Vec::new();
    };
    let mut fixes = Vec::new();
    if let [key] = endpoint.keys().as_slice()
        && context.get(&entry.path.key("settings").key(*key)).is_none()
    {
        let edits = vec![FixEdit::RenameKey { path: path.clone(), to: (*key).to_owned() }];
        fixes.push(Fix::new(format!("Rename to \"{key}\""), edits));
    }
    let edits = vec![FixEdit::Move { from: path.clone(), to: entry.path.key("endpoint") }];
    fixes.push(Fix::new("Move to endpoint", edits));
    fixes
}
