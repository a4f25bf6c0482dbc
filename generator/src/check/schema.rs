//! What the CRD's schema and rules say, as findings: which rule of ours each fault is, and what mends it.

use super::NotChecked;
use super::finding::{Cause, Finding, Fix, FixEdit};
use super::rule::Rule;
use super::rules;
use crate::api::crd;
use crate::api::{ApiVersion, CrdRule};
use crate::path::Path;
use crd_validator::{Check, CompiledSchema, Fault, FaultKind, Verdict};
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// What the API server says about an object of a version. `old` and `unknown` are those of [`super::Request`].
pub(super) fn validate(version: ApiVersion, value: &Value, old: Option<&Value>, unknown: &BTreeSet<Path>) -> Verdict {
    compiled(version).validate_partly_known(value, old, unknown)
}

/// The schema of a version, read once.
fn compiled(version: ApiVersion) -> &'static CompiledSchema {
    static V1ALPHA1: LazyLock<CompiledSchema> =
        LazyLock::new(|| CompiledSchema::new(crd::schema(ApiVersion::V1Alpha1)));
    static V1ALPHA2: LazyLock<CompiledSchema> =
        LazyLock::new(|| CompiledSchema::new(crd::schema(ApiVersion::V1Alpha2)));
    static OGX_V1BETA1: LazyLock<CompiledSchema> =
        LazyLock::new(|| CompiledSchema::new(crd::schema(ApiVersion::OgxV1Beta1)));
    match version {
        ApiVersion::V1Alpha1 => &V1ALPHA1,
        ApiVersion::V1Alpha2 => &V1ALPHA2,
        ApiVersion::OgxV1Beta1 => &OGX_V1BETA1,
    }
}

/// The finding for a fault.
pub(super) fn finding(fault: Fault) -> Finding {
    let mut finding = Finding::new(rule(fault.kind), fault.path, fault.message);
    if let Some(rule) = fault.rule.as_deref().and_then(CrdRule::of) {
        finding = finding.because(Cause::Crd(rule));
    }
    finding.api_server_message = Some(fault.server_message);
    finding.api_server_path = Some(fault.server_field).filter(|field| *field != finding.path.to_string());
    if let Some(first) = fault.first {
        finding = finding.with_related(first, "first here");
    }
    let path = finding.path.clone();
    match (fault.kind, fault.suggestion) {
        (FaultKind::UnknownField, None) => finding.at_key(),
        (FaultKind::UnknownField, Some(name)) => {
            let title = format!("Rename {} to {}", quoted_key(&path), Value::from(name.as_str()));
            let edits = vec![FixEdit::RenameKey { path, to: name }];
            finding.at_key().with_fix(Fix { title, edits, preferred: true })
        }
        (_, Some(value)) => {
            let title = format!("Replace with {}", Value::from(value.as_str()));
            let edits = vec![FixEdit::Replace { path, value: value.into() }];
            finding.with_fix(Fix { title, edits, preferred: true })
        }
        _ => finding,
    }
}

/// The last step of a path, in quotes.
fn quoted_key(path: &Path) -> String {
    match path.last() {
        Some(crate::path::Segment::Key(name)) => Value::from(name.as_str()).to_string(),
        _ => String::new(),
    }
}

/// Our rule for each check of the API server.
fn rule(kind: FaultKind) -> &'static Rule {
    match kind {
        FaultKind::UnknownField => &rules::schema::UNKNOWN_FIELD,
        FaultKind::Type => &rules::schema::TYPE,
        FaultKind::Required => &rules::schema::REQUIRED,
        FaultKind::Enum => &rules::schema::ENUM,
        FaultKind::Bounds => &rules::schema::BOUNDS,
        FaultKind::Pattern => &rules::schema::PATTERN,
        FaultKind::Format => &rules::schema::FORMAT,
        FaultKind::Duplicate => &rules::schema::DUPLICATE_KEY,
        FaultKind::Alternatives => &rules::schema::ALTERNATIVES,
        FaultKind::Metadata => &rules::schema::METADATA,
        FaultKind::Rule => &rules::crd_rule::RULE,
        FaultKind::RuleError => &rules::crd_rule::ERROR,
    }
}

/// A check of the API server that could not be made.
pub(super) fn not_checked(open: crd_validator::NotChecked) -> NotChecked {
    let rule = match open.check {
        Check::Object => "llsd::schema".to_owned(),
        Check::Format(_) => rule(FaultKind::Format).id.to_owned(),
        Check::Pattern(_) => rule(FaultKind::Pattern).id.to_owned(),
        Check::Rule(expression) => expression,
    };
    NotChecked { path: open.path, rule, reason: open.reason.to_string() }
}
