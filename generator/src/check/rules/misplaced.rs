//! Fields that exist, but elsewhere. Source: the two versions' schemas; the places are those where users' files have
//! them.

use super::super::context::{Report, RuleContext};
use super::super::finding::{Finding, Fix, FixEdit, Severity};
use super::super::rule::{Group, Rule};
use crate::api::ApiVersion;
use serde_json::Value;

pub static MISPLACED_FIELD: Rule = Rule {
    id: "llsd::schema::misplaced-field",
    severity: Severity::Error,
    summary: "The field exists, but in another place, or in the other version.",
    why: "The API server drops fields that it does not know where they stand, or refuses the resource.",
    example: "kind: LlamaStackDistribution\nspec:\n  image: quay.io/example/llama-stack:0.4.7",
    explains_schema: true,
    ..Rule::PLAIN
};

pub(super) static GROUP: Group = Group { rules: &[&MISPLACED_FIELD], check: Some(check) };

/// Places in v1alpha1 where files have a field, and where it belongs.
const V1ALPHA1: [(&str, &str); 23] = [
    ("image", "server.distribution.image"),
    ("distribution", "server.distribution"),
    ("containerSpec", "server.containerSpec"),
    ("env", "server.containerSpec.env"),
    ("port", "server.containerSpec.port"),
    ("resources", "server.containerSpec.resources"),
    ("storage", "server.storage"),
    ("userConfig", "server.userConfig"),
    ("podOverrides", "server.podOverrides"),
    ("tlsConfig", "server.tlsConfig"),
    ("autoscaling", "server.autoscaling"),
    ("server.replicas", "replicas"),
    ("server.env", "server.containerSpec.env"),
    ("server.image", "server.distribution.image"),
    ("server.resources", "server.containerSpec.resources"),
    ("server.containerSpec.image", "server.distribution.image"),
    ("server.network", "network"),
    ("workers", "server.workers"),
    ("server.port", "server.containerSpec.port"),
    ("server.command", "server.containerSpec.command"),
    ("server.args", "server.containerSpec.args"),
    ("server.containerSpec.storage", "server.storage"),
    ("server.containerSpec.workers", "server.workers"),
];

/// Places in v1alpha2 where files have a field, and where it belongs. The shape of v1alpha1 as a whole is another
/// matter: it is migrated.
const V1ALPHA2: [(&str, &str); 14] = [
    ("image", "distribution.image"),
    ("replicas", "workload.replicas"),
    ("workers", "workload.workers"),
    ("env", "workload.overrides.env"),
    ("autoscaling", "workload.autoscaling"),
    ("podDisruptionBudget", "workload.podDisruptionBudget"),
    ("port", "networking.port"),
    ("tls", "networking.tls"),
    ("expose", "networking.expose"),
    ("models", "resources.models"),
    ("tools", "resources.tools"),
    ("shields", "resources.shields"),
    ("inference", "providers.inference"),
    ("workload.env", "workload.overrides.env"),
];

/// Fields that only v1alpha2 has.
const ONLY_NEW: [&str; 5] = ["providers", "disabled", "networking", "workload", "overrideConfig"];

/// Fields that only v1alpha1 has.
const ONLY_OLD: [&str; 2] = ["server", "network"];

pub(in crate::check) fn check(context: &RuleContext<'_>, report: &mut Report) {
    let places: &[(&str, &str)] = match context.version {
        ApiVersion::V1Alpha1 => &V1ALPHA1,
        ApiVersion::V1Alpha2 => &V1ALPHA2,
        ApiVersion::OgxV1Beta1 => &crate::ogx::MISPLACED,
    };
    for (from, to) in places.iter().filter(|(from, _)| context.is_present(from)) {
        let (from, to) = (RuleContext::spec(from), RuleContext::spec(to));
        let Some(value) = context.get(&from) else { continue };
        // `spec.storage` of v1alpha2 and the like are of another shape than what would be moved.
        let Some(field) = from.last() else { continue };
        let fits = crate::api::crd::schema_at(context.version, &to).is_some_and(|schema| shaped_like(schema, value));
        // an image beside a name would be another mistake
        let named =
            to.last() == Some(&crate::path::Segment::Key("image".to_owned())) && context.distribution().is_some();
        let free = context.get(&to).is_none() && context.is_known(&to) && !named;
        let message = match field {
            crate::path::Segment::Key(name) => format!("unknown field \"{name}\": it belongs into {to}"),
            crate::path::Segment::Index(_) => continue,
        };
        let mut finding = Finding::new(&MISPLACED_FIELD, from.clone(), message).at_key();
        if fits && free {
            let edits = vec![FixEdit::Move { from: from.clone(), to: to.clone() }];
            finding = finding.with_fix(Fix { title: format!("Move to {to}"), edits, preferred: false });
        }
        if fits {
            report.add(finding);
        }
    }
    let (fields, other): (&[&str], _) = match context.version {
        ApiVersion::V1Alpha1 => (&ONLY_NEW, ApiVersion::V1Alpha2),
        ApiVersion::V1Alpha2 => (&ONLY_OLD, ApiVersion::V1Alpha1),
        ApiVersion::OgxV1Beta1 => return,
    };
    for field in fields.iter().filter(|field| context.is_present(field)) {
        let path = RuleContext::spec(field);
        if context.get(&path).is_some() {
            let message = format!("unknown field \"{field}\": only {other} has it");
            report.add(Finding::new(&MISPLACED_FIELD, path, message).at_key());
        }
    }
}

/// Whether a value has the JSON type that a schema asks for.
fn shaped_like(schema: &Value, value: &Value) -> bool {
    match schema.get("type").and_then(Value::as_str) {
        Some("object") => value.as_object().is_some_and(|fields| known_fields(schema, fields)),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64() || value.is_u64(),
        _ => true,
    }
}

/// Whether an object has one of the fields of a schema at least, if that names any.
fn known_fields(schema: &Value, fields: &serde_json::Map<String, Value>) -> bool {
    let Some(known) = schema.get("properties").and_then(Value::as_object) else { return true };
    fields.is_empty() || fields.keys().any(|field| known.contains_key(field))
}
