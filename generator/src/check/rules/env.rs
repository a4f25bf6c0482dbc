//! Environment variables. Source: Kubernetes (of two entries with one name the last counts, and server-side apply
//! refuses the list), and the base configs (a variable that no `${env.…}` names has no effect on them).

use super::super::finding::{Finding, Fix, FixEdit, Severity};
use super::super::rule::{Group, Rule};
use super::super::subject::{Report, Subject};
use super::endpoint::{has_scheme, is_bare, no_path, no_scheme};
use crate::api::ApiVersion;
use crate::generate::{Data, Tracked};
use crate::nearest::nearest_within;
use crate::path::Path;
use std::collections::{BTreeSet, HashMap};

/// Letters in which a variable may differ from the one that was meant.
const MAX_TYPOS: usize = 2;

pub static DUPLICATE: Rule = Rule {
    id: "llsd::env::duplicate",
    severity: Severity::Warning,
    summary: "An environment variable is set twice.",
    why: "The last entry counts, and the first only looks as if it did.",
    example: "env:\n  - {name: VLLM_URL, value: http://a:8000/v1}\n  - {name: VLLM_URL, value: http://b:8000/v1}",
    fixes: Some(without_the_other),
    ..Rule::PLAIN
};

pub static UNREAD: Rule = Rule {
    id: "llsd::env::unread",
    severity: Severity::Warning,
    summary: "The distribution's config does not read the variable, but one with a similar name.",
    why: "The server would start as if the variable were not set.",
    example: "server:\n  distribution: {name: starter}\n  containerSpec:\n    env:\n      - {name: VLLM_API_URL, value: http://vllm:8000/v1}",
    ..Rule::PLAIN
};

pub(super) static GROUP: Group = Group { rules: &[&DUPLICATE, &UNREAD], check: Some(check) };

pub(in crate::check) fn check(subject: &Subject<'_>, report: &mut Report) {
    let variables = subject.env();
    let mut seen: HashMap<&str, &Path> = HashMap::new();
    for (name, path, _) in &variables {
        if let Some(first) = seen.insert(name, path) {
            let message = format!("{name} is set twice: this entry counts, the earlier one does not");
            let finding = Finding::new(&DUPLICATE, path.key("name"), message);
            report.add(finding.with_related(first.key("name"), "The other entry"));
        }
    }
    for (name, path, _) in &variables {
        let at = path.key("value");
        let Some(value) = subject.text(&at).filter(|_| name.ends_with("_URL")) else { continue };
        if is_host(value) && !has_scheme(value) {
            report.add(no_scheme(at, value, "a URL needs one", Severity::Warning));
        } else if name.starts_with("VLLM_") && is_bare(value) && has_scheme(value) {
            report.add(no_path(at, value, "/v1"));
        }
    }
    if variables.is_empty() {
        return;
    }
    if let Some(base) = subject.base().filter(|_| runs_base(subject)) {
        let mut read = BTreeSet::new();
        variables_of(&base, &mut read);
        for (name, path, _) in &variables {
            unread(name, path, &read, &seen, report);
        }
    }
}

/// Host, or host and port: what is certainly meant as an address.
fn is_host(value: &str) -> bool {
    let place = value.split('/').next().unwrap_or_default();
    let (host, port) = place.rsplit_once(':').unwrap_or((place, ""));
    host.starts_with(|char: char| char.is_ascii_alphanumeric())
        && host.chars().all(|char| char.is_ascii_alphanumeric() || matches!(char, '.' | '-'))
        && if port.is_empty() { host.contains('.') } else { port.bytes().all(|byte| byte.is_ascii_digit()) }
}

/// Whether the server runs with the distribution's own config, or one made from it.
fn runs_base(subject: &Subject<'_>) -> bool {
    let others = match subject.version {
        ApiVersion::V1Alpha1 => ["server.userConfig", "server.containerSpec.command", "server.containerSpec.args"],
        ApiVersion::V1Alpha2 => ["overrideConfig", "workload.overrides.command", "workload.overrides.args"],
    };
    others.iter().all(|other| {
        let path = Subject::spec(other);
        subject.is_known(&path) && subject.get(&path).is_none()
    })
}

/// Every variable that a config names. As deep as configs are read.
fn variables_of<'c>(config: &'c Tracked, found: &mut BTreeSet<&'c str>) {
    match &config.data {
        Data::Text(text) => {
            for (start, mark) in text.match_indices("${env.") {
                let rest = &text[start + mark.len()..];
                let end = rest.find([':', '}']).unwrap_or(rest.len());
                found.insert(&rest[..end]);
            }
        }
        Data::List(items) => items.iter().for_each(|item| variables_of(item, found)),
        Data::Map(entries) => entries.values().for_each(|value| variables_of(value, found)),
        Data::Literal(_) => {}
    }
}

/// Only a variable with a likely meaning is reported: many others are read by libraries, not by the config.
fn unread(name: &str, path: &Path, read: &BTreeSet<&str>, set: &HashMap<&str, &Path>, report: &mut Report) {
    if read.contains(name) || !name.contains('_') {
        return;
    }
    let free = || read.iter().copied().filter(|other| !set.contains_key(other));
    let words: Vec<&str> = name.split('_').collect();
    // VLLM_API_URL has every word of VLLM_URL, beginning with the first.
    let inside = free().find(|other| {
        let mut parts = other.split('_');
        other.contains('_') && parts.next() == words.first().copied() && parts.all(|part| words.contains(&part))
    });
    let Some(meant) = inside.or_else(|| nearest_within(name, free(), MAX_TYPOS)) else { return };
    let message = format!("The distribution's config does not read {name}. Did you mean {meant}?");
    let at = path.key("name");
    let edits = vec![FixEdit::Replace { path: at.clone(), value: meant.into() }];
    let fix = Fix { title: format!("Change to {meant}"), edits, preferred: false };
    report.add(Finding::new(&UNREAD, at, message).with_fix(fix));
}

fn without_the_other(_: &Subject<'_>, finding: &Finding) -> Vec<Fix> {
    let others = finding.related.iter().filter_map(|other| other.path.parent());
    others.map(|other| Fix::remove("Remove the other entry", other)).collect()
}
