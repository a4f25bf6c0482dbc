//! The rules between fields that the CRD states in CEL. Source: the API server, whose words the messages are.

use super::super::context::{ProviderEntry, RuleContext};
use super::super::finding::{Cause, Finding, Fix, FixEdit, Severity};
use super::super::rule::{Group, Rule};
use super::duplicate_id::free;
use crate::api::CrdRule;
use crate::path::Path;
use serde_json::{Value, json};
use std::collections::BTreeSet;

pub static RULE: Rule = Rule {
    id: "llsd::cel::rule",
    severity: Severity::Error,
    summary: "A rule between fields that the CRD states is broken. The message is the API server's.",
    why: "The API server refuses the resource.",
    example: "distribution: {name: starter, image: \"quay.io/example/llama-stack:0.4.7\"}",
    fixes: Some(broken_rule),
    ..Rule::PLAIN
};

pub static ERROR: Rule = Rule {
    id: "llsd::cel::error",
    severity: Severity::Error,
    summary: "A rule of the CRD could not be evaluated on this value. The message is the API server's.",
    why: "The API server refuses the resource.",
    example: "a rule that divides by a field that is 0",
    ..Rule::PLAIN
};

pub(super) static GROUP: Group = Group { rules: &[&RULE, &ERROR], check: None };

/// What mends a broken rule.
fn broken_rule(context: &RuleContext<'_>, finding: &Finding) -> Vec<Fix> {
    let at = &finding.path;
    let Cause::Crd(rule) = finding.cause else { return Vec::new() };
    match rule {
        CrdRule::Exclusive(one, other) => {
            [other, one].map(|field| Fix::remove(format!("Remove {field}"), at.key(field))).into()
        }
        CrdRule::ExplicitIds => explicit_ids(context, at).into_iter().collect(),
        CrdRule::ReplicaRange => {
            let least = at.parent().and_then(|autoscaling| context.get(&autoscaling.key("minReplicas")));
            let raise = least
                .filter(|least| least.is_i64() || least.is_u64())
                .map(|least| Fix::replace(format!("Raise maxReplicas to {least}"), at.clone(), least.clone()));
            raise.into_iter().collect()
        }
        CrdRule::SecretNeedsTls => vec![
            Fix::new("Enable TLS", vec![set(context, at.key("enabled"), json!(true))]),
            Fix::remove("Remove secretName", at.key("secretName")),
        ],
        CrdRule::StoreTakes { kind, field } => vec![
            Fix::new(format!("Set type to {kind}"), vec![set(context, at.key("type"), kind.into())]),
            Fix::remove(format!("Remove {field}"), at.key(field)),
        ],
        CrdRule::NameLength
        | CrdRule::NameDots
        | CrdRule::OneOf(..)
        | CrdRule::Enabled(_)
        | CrdRule::UniqueIds
        | CrdRule::UniqueExternalIds
        | CrdRule::LabelKey
        | CrdRule::TlsNeedsSecret
        | CrdRule::StoreNeeds { .. } => Vec::new(),
    }
}

/// Writes a value, whether the entry is there or not.
fn set(context: &RuleContext<'_>, path: Path, value: Value) -> FixEdit {
    match path.find(context.value()) {
        Some(_) => FixEdit::Replace { path, value },
        None => FixEdit::Insert { path, value },
    }
}

/// Gives every provider of a list without id the one that it would have alone, or the next that is free.
fn explicit_ids(context: &RuleContext<'_>, list: &Path) -> Option<Fix> {
    let providers = context.providers();
    let open = |entry: &ProviderEntry<'_>| entry.path.starts_with(list) && !entry.has_id();
    let kept = providers.iter().filter(|entry| !open(entry)).filter_map(|entry| entry.id);
    let mut taken: BTreeSet<String> = kept.map(str::to_owned).collect();
    let mut edits = Vec::new();
    for entry in providers.iter().filter(|entry| open(entry)) {
        let id = free(entry.id?, |id| taken.contains(id));
        edits.push(FixEdit::Insert { path: entry.path.key("id"), value: Value::from(id.as_str()) });
        taken.insert(id);
    }
    let title = if edits.len() == 1 { "Add the missing id" } else { "Add the missing ids" };
    (!edits.is_empty()).then(|| Fix::new(title, edits))
}
