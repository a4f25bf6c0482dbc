//! Fixes for findings that the schema, the CRD's rules and the generator make: they know what is wrong, and the whole
//! object says what to do about it.

use super::finding::{Finding, Fix, FixEdit};
use super::subject::{ProviderEntry, Subject};
use crate::api::crd;
use crate::nearest::nearest;
use crate::path::{Path, Segment};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Key of a Secret that is proposed where none is known.
const SECRET_KEY: &str = "api-key";

/// Adds what would mend each finding, behind the fixes that it has. None of these is preferred: each chooses between
/// possibilities, or makes up a name.
pub(super) fn add(subject: &Subject<'_>, findings: &mut [Finding]) {
    for finding in findings.iter_mut() {
        // a name that is there already would be there twice
        finding.fixes.retain(|fix| !fix.edits.iter().any(|edit| takes_name(subject, edit)));
        let found = match finding.rule {
            "llsd::cel::rule" => broken_rule(subject, finding),
            "llsd::schema::required" => missing(subject, &finding.path),
            "llsd::schema::type" => mistyped(subject, &finding.path),
            "llsd::provider::missing-setting" => missing_setting(subject, &finding.path),
            "llsd::provider::duplicate-id" => another_id(subject, &finding.path),
            "llsd::provider::deprecated-type" => successor(subject, finding),
            "llsd::settings::overridden" => vec![remove("Remove it, as it has no effect", finding.path.clone())],
            "llsd::settings::unknown-key" => address(subject, finding),
            "llsd::disabled::required" => vec![remove("Remove it from disabled", finding.path.clone())],
            "llsd::env::duplicate" => finding
                .related
                .iter()
                .filter_map(|other| Some(remove("Remove the other entry", other.path.parent()?)))
                .collect(),
            "llsd::metadata::name" => without_dots(subject, &finding.path),
            _ => Vec::new(),
        };
        finding.fixes.extend(found);
    }
}

/// Whether an edit gives an entry the key of another one.
fn takes_name(subject: &Subject<'_>, edit: &FixEdit) -> bool {
    match edit {
        FixEdit::RenameKey { path, to } => {
            path.parent().is_some_and(|parent| parent.key(to).find(subject.value()).is_some())
        }
        _ => false,
    }
}

fn fix(title: impl Into<String>, edits: Vec<FixEdit>) -> Fix {
    Fix { title: title.into(), edits, preferred: false }
}

fn remove(title: impl Into<String>, path: Path) -> Fix {
    fix(title, vec![FixEdit::Remove { path }])
}

fn insert(title: impl Into<String>, path: Path, value: Value) -> Fix {
    fix(title, vec![FixEdit::Insert { path, value }])
}

/// The rules that the CRD states in CEL, by their messages.
fn broken_rule(subject: &Subject<'_>, finding: &Finding) -> Vec<Fix> {
    let at = &finding.path;
    let message = finding.message.as_str();
    let one_of = |fields: [&str; 2]| fields.map(|field| remove(format!("Remove {field}"), at.key(field))).into();
    match message {
        "only one of name or image can be specified" => one_of(["image", "name"]),
        "only one of minAvailable or maxUnavailable can be specified" => one_of(["maxUnavailable", "minAvailable"]),
        "each provider must have an explicit id when multiple providers are specified" => {
            explicit_ids(subject, at).into_iter().collect()
        }
        "maxReplicas must be greater than or equal to minReplicas" => {
            let least = at.parent().and_then(|autoscaling| subject.get(&autoscaling.key("minReplicas")));
            let raise = least.filter(|least| least.is_i64() || least.is_u64()).map(|least| {
                let edit = FixEdit::Replace { path: at.clone(), value: least.clone() };
                fix(format!("Raise maxReplicas to {least}"), vec![edit])
            });
            raise.into_iter().collect()
        }
        "secretName is only valid when tls is enabled: set enabled to true" => {
            let path = at.key("enabled");
            let edit = match path.find(subject.value()) {
                Some(_) => FixEdit::Replace { path, value: json!(true) },
                None => FixEdit::Insert { path, value: json!(true) },
            };
            vec![fix("Enable TLS", vec![edit]), remove("Remove secretName", at.key("secretName"))]
        }
        _ => only_with_type(subject, at, message).or_else(|| exclusive(at, message)).unwrap_or_default(),
    }
}

/// `endpoint is only valid when type is redis`.
fn only_with_type(subject: &Subject<'_>, at: &Path, message: &str) -> Option<Vec<Fix>> {
    let (field, kind) = message.split_once(" is only valid when type is ")?;
    let path = at.key("type");
    let value = Value::from(kind);
    let edit = match path.find(subject.value()) {
        Some(_) => FixEdit::Replace { path, value },
        None => FixEdit::Insert { path, value },
    };
    Some(vec![fix(format!("Set type to {kind}"), vec![edit]), remove(format!("Remove {field}"), at.key(field))])
}

/// `providers and overrideConfig are mutually exclusive`.
fn exclusive(at: &Path, message: &str) -> Option<Vec<Fix>> {
    let (one, other) = message.strip_suffix(" are mutually exclusive")?.split_once(" and ")?;
    Some([other, one].map(|field| remove(format!("Remove {field}"), at.key(field))).into())
}

/// Gives every provider of a list without id the one that it would have alone, or the next that is free.
fn explicit_ids(subject: &Subject<'_>, list: &Path) -> Option<Fix> {
    let providers = subject.providers();
    let mut taken: BTreeSet<String> = ids(providers, |entry| has_id(entry) || !entry.path.starts_with(list));
    let mut edits = Vec::new();
    for entry in providers.iter().filter(|entry| entry.path.starts_with(list) && !has_id(entry)) {
        let id = free(entry.id?, &taken);
        edits.push(FixEdit::Insert { path: entry.path.key("id"), value: Value::from(id.as_str()) });
        taken.insert(id);
    }
    let title = if edits.len() == 1 { "Add the missing id" } else { "Add the missing ids" };
    (!edits.is_empty()).then(|| fix(title, edits))
}

/// Another id for the provider whose id or type is at `path`.
fn another_id(subject: &Subject<'_>, path: &Path) -> Vec<Fix> {
    let providers = subject.providers();
    let Some(entry) = providers.iter().find(|entry| path.starts_with(&entry.path)) else { return Vec::new() };
    let Some(id) = entry.id else { return Vec::new() };
    let new = free(id, &ids(providers, |_| true));
    let path = entry.path.key("id");
    let value = Value::from(new.as_str());
    let edit = if has_id(entry) { FixEdit::Replace { path, value } } else { FixEdit::Insert { path, value } };
    vec![fix(format!("Give it the id \"{new}\""), vec![edit])]
}

fn has_id(entry: &ProviderEntry<'_>) -> bool {
    entry.value.contains_key("id")
}

fn ids(providers: &[ProviderEntry<'_>], wanted: impl Fn(&ProviderEntry<'_>) -> bool) -> BTreeSet<String> {
    providers.iter().filter(|entry| wanted(entry)).filter_map(|entry| Some(entry.id?.to_owned())).collect()
}

/// The id, or with the first number behind it that makes it another one.
fn free(id: &str, taken: &BTreeSet<String>) -> String {
    let numbered = (2..).map(|number| format!("{id}-{number}"));
    std::iter::once(id.to_owned()).chain(numbered).find(|id| !taken.contains(id)).unwrap_or_default()
}

/// A required field that has a usual value.
fn missing(subject: &Subject<'_>, path: &Path) -> Vec<Fix> {
    let parent = path.parent().unwrap_or_default();
    let (Some(Segment::Key(name)), Some(Segment::Key(holder))) = (path.last(), parent.last()) else {
        return Vec::new();
    };
    let value = match (holder.as_str(), name.as_str()) {
        ("spec", "distribution") => json!({"name": "starter"}),
        ("secretKeyRef", "key") => Value::from(only_key(subject, &parent.key("name"))),
        ("secretKeyRef", "name") => Value::from(secret_name(subject, path)),
        (_, "secretKeyRef") => json!({"name": secret_name(subject, path), "key": SECRET_KEY}),
        ("autoscaling", "maxReplicas") => {
            let least = subject.get(&parent.key("minReplicas")).and_then(Value::as_i64);
            Value::from(least.unwrap_or(1).max(1))
        }
        _ => return Vec::new(),
    };
    vec![insert(format!("Add {name}"), path.clone(), value)]
}

/// The key of the Secret named at `path`, if it is known and has one only.
fn only_key(subject: &Subject<'_>, path: &Path) -> String {
    let object = subject.text(path).map(|name| (subject.namespace().to_owned(), name.to_owned()));
    let keys = object.and_then(|object| subject.facts.secrets.as_ref()?.get(&object));
    match keys.map(|keys| keys.iter().collect::<Vec<_>>()).as_deref() {
        Some([key]) => (*key).clone(),
        _ => SECRET_KEY.to_owned(),
    }
}

/// A name for the Secret of what lies at `path`: that of its provider, else of the resource.
fn secret_name(subject: &Subject<'_>, path: &Path) -> String {
    let providers = subject.providers();
    let id = providers.iter().find(|entry| path.starts_with(&entry.path)).and_then(|entry| entry.id);
    let owner = id.or_else(|| subject.text(&Path::parse("metadata.name"))).unwrap_or("llama-stack");
    let owner: String = owner
        .to_lowercase()
        .chars()
        .map(|char| if char.is_ascii_lowercase() || char.is_ascii_digit() { char } else { '-' })
        .collect();
    format!("{}-credentials", owner.trim_matches('-'))
}

/// A text that was read as a number or a truth value, or the other way round.
fn mistyped(subject: &Subject<'_>, path: &Path) -> Vec<Fix> {
    let Some(value) = subject.get(path) else { return Vec::new() };
    let wanted = crd::schema_at(subject.version, path).and_then(|schema| schema.get("type")?.as_str());
    let replace = |value: Value| {
        fix(format!("Write {value}, without quotes"), vec![FixEdit::Replace { path: path.clone(), value }])
    };
    match (wanted, value) {
        (Some("string"), Value::Number(_) | Value::Bool(_)) => {
            vec![fix("Put it in quotes", vec![FixEdit::Quote { path: path.clone() }])]
        }
        (Some("integer"), Value::String(text)) => {
            text.parse::<i64>().ok().map(|number| replace(number.into())).into_iter().collect()
        }
        (Some("boolean"), Value::String(text)) => {
            text.parse::<bool>().ok().map(|truth| replace(truth.into())).into_iter().collect()
        }
        (Some("array"), Value::String(_)) => {
            let edits = vec![FixEdit::Replace { path: path.clone(), value: json!([value]) }];
            vec![fix("Make it a list", edits)]
        }
        _ => Vec::new(),
    }
}

/// An address or key without which the provider does not start.
fn missing_setting(subject: &Subject<'_>, path: &Path) -> Vec<Fix> {
    let providers = subject.providers();
    let Some(entry) = providers.iter().find(|entry| path.starts_with(&entry.path)) else { return Vec::new() };
    let Some((Ok(known), id)) = subject.resolved(entry).zip(entry.id) else { return Vec::new() };
    match path.last() {
        Some(Segment::Key(name)) if name == "endpoint" => {
            let below = known.endpoint_path.as_deref().unwrap_or_default();
            let host: String = id.chars().map(|char| if char.is_ascii_alphanumeric() { char } else { '-' }).collect();
            vec![insert("Add an endpoint", path.clone(), format!("http://{host}:8000{below}").into())]
        }
        Some(Segment::Key(name)) if known.api_key.as_ref() == Some(name) || name == "apiKey" => {
            let reference = json!({"secretKeyRef": {"name": secret_name(subject, path), "key": SECRET_KEY}});
            vec![insert("Add an apiKey", entry.path.key("apiKey"), reference)]
        }
        _ => Vec::new(),
    }
}

/// `use inline::faiss`: the type that takes the place of a deprecated one.
fn successor(subject: &Subject<'_>, finding: &Finding) -> Vec<Fix> {
    let Some((_, advice)) = finding.message.rsplit_once(": use ") else { return Vec::new() };
    let name = advice.split([' ', ',', ';']).next().unwrap_or_default().trim_end_matches('.');
    let providers = subject.providers();
    let entry = providers.iter().find(|entry| finding.path.starts_with(&entry.path));
    let known = entry.and_then(|entry| subject.catalog()?.provider(entry.api, name));
    let replace = |_| {
        let edits = vec![FixEdit::Replace { path: finding.path.clone(), value: name.into() }];
        fix(format!("Change to \"{name}\""), edits)
    };
    known.map(replace).into_iter().collect()
}

/// An address under a name that another provider type, or the resource itself, has for it.
fn address(subject: &Subject<'_>, finding: &Finding) -> Vec<Fix> {
    let path = &finding.path;
    let Some(Segment::Key(name)) = path.last() else { return Vec::new() };
    if !finding.fixes.is_empty() || nearest(name, ["url", "uri", "base_url", "endpoint"]).is_none() {
        return Vec::new();
    }
    let providers = subject.providers();
    let Some(entry) = providers.iter().find(|entry| path.parent() == Some(entry.path.key("settings"))) else {
        return Vec::new();
    };
    let Some(Ok(known)) = subject.resolved(entry) else { return Vec::new() };
    let Some(endpoint) = known.endpoint.as_ref().filter(|_| !entry.value.contains_key("endpoint")) else {
        return Vec::new();
    };
    let mut fixes = Vec::new();
    if let [key] = endpoint.keys().as_slice()
        && subject.get(&entry.path.key("settings").key(*key)).is_none()
    {
        let edits = vec![FixEdit::RenameKey { path: path.clone(), to: (*key).to_owned() }];
        fixes.push(fix(format!("Rename to \"{key}\""), edits));
    }
    let edits = vec![FixEdit::Move { from: path.clone(), to: entry.path.key("endpoint") }];
    fixes.push(fix("Move to endpoint", edits));
    fixes
}

fn without_dots(subject: &Subject<'_>, path: &Path) -> Vec<Fix> {
    let Some(name) = subject.text(path).filter(|name| name.contains('.')) else { return Vec::new() };
    let new = name.replace('.', "-");
    vec![fix(format!("Change to \"{new}\""), vec![FixEdit::Replace { path: path.clone(), value: new.into() }])]
}
