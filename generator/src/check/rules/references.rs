//! Secrets and ConfigMaps that a resource names. Source: the kubelet, which starts no container before they are there; the
//! operator tells it in the condition `SecretsResolved`.

use super::super::context::{Report, RuleContext};
use super::super::finding::{Cause, Finding, Fix, FixEdit, Severity};
use super::super::rule::{Group, Rule};
use crate::api::ApiVersion;
use crate::nearest::nearest;
use crate::path::Path;
use serde_json::Value;

pub static NOT_FOUND: Rule = Rule {
    id: "llsd::reference::not-found",
    severity: Severity::Error,
    summary: "A Secret or ConfigMap that the resource names does not exist.",
    why: "The pod would wait for it and never start.",
    example: "apiKey:\n  secretKeyRef: {name: openai-credential, key: api-key}",
    ..Rule::PLAIN
};

pub static NO_KEY: Rule = Rule {
    id: "llsd::reference::no-key",
    severity: Severity::Error,
    summary: "The Secret or ConfigMap does not have the key that the resource names.",
    why: "The pod would wait for it and never start.",
    example: "apiKey:\n  secretKeyRef: {name: openai-credentials, key: apikey}",
    ..Rule::PLAIN
};

pub(super) static GROUP: Group = Group { rules: &[&NOT_FOUND, &NO_KEY], check: Some(check) };

/// Where an object is named.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference<'a> {
    pub kind: ReferenceKind,
    /// Its name, in the resource's namespace.
    pub name: &'a str,
    /// The place of the name.
    pub path: Path,
    /// The key, and its place.
    pub key: Option<(&'a str, Path)>,
}

/// The kind of an object that a resource names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReferenceKind {
    Secret,
    ConfigMap,
}

use ReferenceKind as Kind;

impl ReferenceKind {
    /// The `kind` that the object has in the API: `Secret` or `ConfigMap`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Secret => "Secret",
            Self::ConfigMap => "ConfigMap",
        }
    }
}

pub(in crate::check) fn check(context: &RuleContext<'_>, report: &mut Report) {
    for reference in references(context) {
        judge(context, &reference, report);
    }
}

/// The objects that a resource names and that its pods need, with the places.
pub(in crate::check) fn references<'a>(context: &RuleContext<'a>) -> Vec<Reference<'a>> {
    let mut found = Vec::new();
    let mut at_ref = |kind: Kind, path: Path| {
        let optional = context.get(&path.key("optional")).and_then(Value::as_bool) == Some(true);
        let Some(name) = context.text(&path.key("name")).filter(|_| !optional) else { return };
        let key = context.text(&path.key("key")).map(|key| (key, path.key("key")));
        found.push(Reference { kind, name, path: path.key("name"), key });
    };
    for entry in context.providers() {
        at_ref(Kind::Secret, entry.path.key("apiKey").key("secretKeyRef"));
        for key in entry.value.get("secretRefs").and_then(Value::as_object).into_iter().flat_map(|map| map.keys()) {
            at_ref(Kind::Secret, entry.path.key("secretRefs").key(key).key("secretKeyRef"));
        }
    }
    let stored = ["storage.kv.password.secretKeyRef", "storage.sql.connectionString.secretKeyRef"];
    for field in stored.into_iter().filter(|field| context.is_present(field)) {
        at_ref(Kind::Secret, RuleContext::spec(field));
    }
    for (_, path, _) in context.env() {
        at_ref(Kind::Secret, path.key("valueFrom").key("secretKeyRef"));
        at_ref(Kind::ConfigMap, path.key("valueFrom").key("configMapKeyRef"));
    }
    let by_name: &[(Kind, &str)] = match context.version {
        ApiVersion::V1Alpha1 => &[
            (Kind::ConfigMap, "server.userConfig.configMapName"),
            (Kind::ConfigMap, "server.tlsConfig.caBundle.configMapName"),
        ],
        ApiVersion::V1Alpha2 => &[
            (Kind::ConfigMap, "overrideConfig.configMapName"),
            (Kind::Secret, "networking.tls.secretName"),
            (Kind::ConfigMap, "networking.tls.caBundle.configMapName"),
        ],
        ApiVersion::OgxV1Beta1 => {
            found.extend(crate::ogx::references::of(context));
            &[]
        }
    };
    for (kind, field) in by_name.iter().filter(|(_, field)| context.is_present(field)) {
        let path = RuleContext::spec(field);
        // An object of another namespace is found there, which nobody looked at.
        let elsewhere = path.parent().is_some_and(|parent| context.get(&parent.key("configMapNamespace")).is_some());
        if let Some(name) = context.text(&path).filter(|name| !elsewhere && !name.is_empty()) {
            found.push(Reference { kind: *kind, name, path, key: None });
        }
    }
    found
}

fn judge(context: &RuleContext<'_>, reference: &Reference<'_>, report: &mut Report) {
    let object = (context.namespace().to_owned(), reference.name.to_owned());
    let kind = reference.kind.name();
    // The keys of the object: `None` if objects of its kind are not known, `Some(None)` if it does not exist.
    let (keys, names): (Option<Option<Vec<&str>>>, Vec<&str>) = match reference.kind {
        Kind::Secret => {
            let known = context.facts.secrets.as_ref();
            let keys = known.map(|known| known.get(&object).map(|keys| keys.iter().map(String::as_str).collect()));
            (keys, known.into_iter().flatten().map(|((_, name), _)| name.as_str()).collect())
        }
        Kind::ConfigMap => {
            let known = context.facts.config_maps.as_ref();
            let keys = known.map(|known| known.get(&object).map(|data| data.keys().map(String::as_str).collect()));
            (keys, known.into_iter().flatten().map(|((_, name), _)| name.as_str()).collect())
        }
    };
    let Some(keys) = keys else {
        return report.not_checked(&NOT_FOUND, &reference.path, &format!("{kind}s are not known here"));
    };
    let namespace = context.namespace();
    let place = if namespace.is_empty() { String::new() } else { format!(" in namespace \"{namespace}\"") };
    let Some(keys) = keys else {
        if !context.knows_namespace() {
            let reason = "the resource's namespace is not known";
            return report.not_checked(&NOT_FOUND, &reference.path, reason);
        }
        let message = format!("{kind} \"{}\" not found{place}. Referenced by: {}", reference.name, reference.path);
        let finding = Finding::new(&NOT_FOUND, reference.path.clone(), message).because(Cause::Object(reference.kind));
        return report.add(with_nearest(finding, reference.name, &reference.path, &names));
    };
    let Some((key, path)) = reference.key.as_ref().filter(|(key, _)| !keys.contains(key)) else { return };
    let message = format!("{kind} \"{}\"{place} has no key \"{key}\". Referenced by: {path}", reference.name);
    let finding = Finding::new(&NO_KEY, path.clone(), message).because(Cause::Object(reference.kind));
    report.add(with_nearest(finding, key, path, &keys));
}

fn with_nearest(finding: Finding, written: &str, path: &Path, known: &[&str]) -> Finding {
    let Some(closest) = nearest(written, known.iter().copied()) else { return finding };
    let edits = vec![FixEdit::Replace { path: path.clone(), value: closest.into() }];
    finding.with_fix(Fix { title: format!("Change to \"{closest}\""), edits, preferred: false })
}
