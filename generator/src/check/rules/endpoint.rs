//! Addresses. Source: what llama-stack does with them: a type that wants a URL refuses one without scheme, and one that
//! needs a path such as `/v1` starts without it and lists no models.

use super::super::context::{Report, RuleContext};
use super::super::finding::{Finding, Fix, FixEdit, Severity};
use super::super::rule::{Group, Rule};
use crate::catalog::{Endpoint, ProviderType};
use crate::path::Path;

pub static NO_SCHEME: Rule = Rule {
    id: "llsd::endpoint::no-scheme",
    severity: Severity::Error,
    summary: "The endpoint has no http:// or https:// in front, and the provider type needs a URL.",
    why: "llama-stack refuses the address and does not start.",
    example: "providers:\n  inference:\n    - provider: vllm\n      endpoint: vllm:8000/v1",
    ..Rule::PLAIN
};

pub static NO_PATH: Rule = Rule {
    id: "llsd::endpoint::no-path",
    severity: Severity::Warning,
    summary: "The endpoint lacks the path under which such servers answer, mostly /v1.",
    why: "llama-stack uses the address as it is: it starts, but finds no models.",
    example: "providers:\n  inference:\n    - provider: vllm\n      endpoint: http://vllm:8000",
    ..Rule::PLAIN
};

pub(super) static GROUP: Group = Group { rules: &[&NO_SCHEME, &NO_PATH], check: Some(check) };

pub(in crate::check) fn check(context: &RuleContext<'_>, report: &mut Report) {
    for entry in context.providers() {
        let path = entry.path.key("endpoint");
        let Some(Ok(known)) = context.resolved(entry) else { continue };
        // `${env.X}` is filled in by llama-stack.
        let Some(endpoint) = context.text(&path).filter(|text| !text.contains("${") && !text.is_empty()) else {
            continue;
        };
        if wants_url(known) && !has_scheme(endpoint) {
            report.add(no_scheme(path, endpoint, &format!("{} needs a URL", known.provider_type), Severity::Error));
        } else if let Some(wanted) = known.endpoint_path.as_deref().filter(|_| is_bare(endpoint)) {
            report.add(no_path(path, endpoint, wanted));
        }
    }
}

fn wants_url(known: &ProviderType) -> bool {
    match &known.endpoint {
        Some(Endpoint::Key(key)) => known.config.get(key).is_some_and(|key| key.url),
        _ => false,
    }
}

pub(super) fn has_scheme(address: &str) -> bool {
    address.split_once("://").is_some_and(|(scheme, _)| {
        scheme.starts_with(|char: char| char.is_ascii_alphabetic())
            && scheme.chars().all(|char| char.is_ascii_alphanumeric() || matches!(char, '+' | '.' | '-'))
    })
}

/// Whether a URL ends with its host and port.
pub(super) fn is_bare(url: &str) -> bool {
    let Some((_, rest)) = url.split_once("://") else { return false };
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    !rest.is_empty() && !rest.contains(['/', '?', '#'])
}

pub(super) fn no_scheme(path: Path, address: &str, why: &str, severity: Severity) -> Finding {
    let message = format!("\"{address}\" has no scheme: {why}, such as \"http://{address}\"");
    Finding::new(&NO_SCHEME, path.clone(), message).weighing(severity).with_fix(Fix {
        title: "Put http:// in front".to_owned(),
        edits: vec![FixEdit::Replace { path, value: format!("http://{address}").into() }],
        preferred: false,
    })
}

pub(super) fn no_path(path: Path, url: &str, wanted: &str) -> Finding {
    let complete = format!("{}{wanted}", url.trim_end_matches('/'));
    let message = format!("The address lacks the path \"{wanted}\": the server starts, but finds no models there");
    Finding::new(&NO_PATH, path.clone(), message).with_fix(Fix {
        title: format!("Append {wanted}"),
        edits: vec![FixEdit::Replace { path, value: complete.into() }],
        preferred: true,
    })
}
