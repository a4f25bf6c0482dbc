//! What the walk over the CRD's schema and its rules says, and what reading the text says before. Source: the API
//! server with strict field validation.

use super::super::context::RuleContext;
use super::super::finding::{Finding, Fix, FixEdit, Severity};
use super::super::rule::{Group, Rule};
use crate::api::crd;
use crate::path::{Path, Segment};
use serde_json::{Value, json};

/// Key of a Secret that is proposed where none is known.
pub(super) const SECRET_KEY: &str = "api-key";

pub static UNKNOWN_FIELD: Rule = Rule {
    id: "llsd::schema::unknown-field",
    severity: Severity::Error,
    summary: "The resource has no such field.",
    why: "The API server refuses it with strict validation, and otherwise drops it in silence.",
    example: "spec:\n  provider: {}",
    ..Rule::PLAIN
};

pub static TYPE: Rule = Rule {
    id: "llsd::schema::type",
    severity: Severity::Error,
    summary: "The value is of another type than the field.",
    why: "The API server refuses the resource. Words such as yes and numbers need quotes to be strings.",
    example: "env:\n  - {name: MAX_TOKENS, value: 4096}",
    fixes: Some(mistyped),
    ..Rule::PLAIN
};

pub static REQUIRED: Rule = Rule {
    id: "llsd::schema::required",
    severity: Severity::Error,
    summary: "A required field is missing.",
    why: "The API server refuses the resource.",
    example: "providers:\n  inference:\n    - endpoint: http://vllm:8000/v1   # without provider",
    fixes: Some(missing),
    ..Rule::PLAIN
};

pub static ENUM: Rule = Rule {
    id: "llsd::schema::enum",
    severity: Severity::Error,
    summary: "The value is not one of those that the field takes.",
    why: "The API server refuses the resource.",
    example: "storage:\n  kv: {type: memcached}",
    ..Rule::PLAIN
};

pub static BOUNDS: Rule = Rule {
    id: "llsd::schema::bounds",
    severity: Severity::Error,
    summary: "The value is too small, too large, too short or too long.",
    why: "The API server refuses the resource.",
    example: "networking: {port: 80}",
    ..Rule::PLAIN
};

pub static PATTERN: Rule = Rule {
    id: "llsd::schema::pattern",
    severity: Severity::Error,
    summary: "The text does not have the form that the field asks for.",
    why: "The API server refuses the resource.",
    example: "workload:\n  storage: {size: ten}",
    ..Rule::PLAIN
};

pub static FORMAT: Rule = Rule {
    id: "llsd::schema::format",
    severity: Severity::Error,
    summary: "The text does not have the format that the field asks for, such as a date.",
    why: "The API server refuses the resource.",
    example: "lastUpdated: yesterday",
    ..Rule::PLAIN
};

pub static DUPLICATE_KEY: Rule = Rule {
    id: "llsd::schema::duplicate-key",
    severity: Severity::Error,
    summary: "Two items of a list have the same key, or a set has an item twice.",
    why: "The API server refuses the resource.",
    example: "topologySpreadConstraints:\n  - {topologyKey: zone, whenUnsatisfiable: DoNotSchedule, maxSkew: 1}\n  - {topologyKey: zone, whenUnsatisfiable: DoNotSchedule, maxSkew: 2}",
    ..Rule::PLAIN
};

pub static ALTERNATIVES: Rule = Rule {
    id: "llsd::schema::alternatives",
    severity: Severity::Error,
    summary: "The value fits none, or several, of the forms of which it must have one.",
    why: "The API server refuses the resource.",
    example: "minAvailable: true",
    ..Rule::PLAIN
};

pub static METADATA: Rule = Rule {
    id: "llsd::schema::metadata",
    severity: Severity::Error,
    summary: "Type or metadata of an embedded resource are not valid.",
    why: "The API server refuses the resource.",
    example: "metadata: {name: 1}",
    ..Rule::PLAIN
};

pub(super) static GROUP: Group = Group {
    rules: &[
        &UNKNOWN_FIELD,
        &TYPE,
        &REQUIRED,
        &ENUM,
        &BOUNDS,
        &PATTERN,
        &FORMAT,
        &DUPLICATE_KEY,
        &ALTERNATIVES,
        &METADATA,
    ],
    check: None,
};

/// A required field that has a usual value.
fn missing(context: &RuleContext<'_>, finding: &Finding) -> Vec<Fix> {
    let path = &finding.path;
    let parent = path.parent().unwrap_or_default();
    let (Some(Segment::Key(name)), Some(Segment::Key(holder))) = (path.last(), parent.last()) else {
        return Vec::new();
    };
    let value = match (holder.as_str(), name.as_str()) {
        ("spec", "distribution") => json!({"name": "starter"}),
        ("secretKeyRef", "key") => Value::from(only_key(context, &parent.key("name"))),
        ("secretKeyRef", "name") => Value::from(secret_name(context, path)),
        (_, "secretKeyRef") => json!({"name": secret_name(context, path), "key": SECRET_KEY}),
        ("autoscaling", "maxReplicas") => {
            let least = context.get(&parent.key("minReplicas")).and_then(Value::as_i64);
            Value::from(least.unwrap_or(1).max(1))
        }
        _ => return Vec::new(),
    };
    vec![Fix::insert(format!("Add {name}"), path.clone(), value)]
}

/// The key of the Secret named at `path`, if it is known and has one only.
fn only_key(context: &RuleContext<'_>, path: &Path) -> String {
    let object = context.text(path).map(|name| (context.namespace().to_owned(), name.to_owned()));
    let keys = object.and_then(|object| context.facts.secrets.as_ref()?.get(&object));
    match keys.map(|keys| keys.iter().collect::<Vec<_>>()).as_deref() {
        Some([key]) => (*key).clone(),
        _ => SECRET_KEY.to_owned(),
    }
}

/// A name for the Secret of what lies at `path`: that of its provider, else of the resource.
pub(super) fn secret_name(context: &RuleContext<'_>, path: &Path) -> String {
    let id = context.provider_at(path).and_then(|entry| entry.id);
    let owner = id.or_else(|| context.text(&Path::parse("metadata.name"))).unwrap_or("llama-stack");
    let owner: String = owner
        .to_lowercase()
        .chars()
        .map(|char| if char.is_ascii_lowercase() || char.is_ascii_digit() { char } else { '-' })
        .collect();
    format!("{}-credentials", owner.trim_matches('-'))
}

/// A text that was read as a number or a truth value, or the other way round.
fn mistyped(context: &RuleContext<'_>, finding: &Finding) -> Vec<Fix> {
    let path = &finding.path;
    let Some(value) = context.get(path) else { return Vec::new() };
    let wanted = crd::schema_at(context.version, path).and_then(|schema| schema.get("type")?.as_str());
    let replace = |value: Value| {
        Fix::new(format!("Write {value}, without quotes"), vec![FixEdit::Replace { path: path.clone(), value }])
    };
    match (wanted, value) {
        (Some("string"), Value::Number(_) | Value::Bool(_)) => {
            vec![Fix::new("Put it in quotes", vec![FixEdit::Quote { path: path.clone() }])]
        }
        (Some("integer"), Value::String(text)) => {
            text.parse::<i64>().ok().map(|number| replace(number.into())).into_iter().collect()
        }
        (Some("boolean"), Value::String(text)) => {
            text.parse::<bool>().ok().map(|truth| replace(truth.into())).into_iter().collect()
        }
        (Some("array"), Value::String(_)) => {
            let edits = vec![FixEdit::Replace { path: path.clone(), value: json!([value]) }];
            vec![Fix::new("Make it a list", edits)]
        }
        _ => Vec::new(),
    }
}
