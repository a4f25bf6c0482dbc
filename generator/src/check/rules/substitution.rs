//! Variables inside the texts that become the server's config. Source: llama-stack 0.4 to 0.7 puts in `${env.NAME}`,
//! `${env.NAME:=default}` and `${env.NAME:+value}`, of names of capitals, digits and `_`, and leaves all else as it stands.
//! The kubelet puts in `$(NAME)` in commands and variables of a pod, not in a config.

use super::super::finding::{Finding, Fix, Severity};
use super::super::rule::{Group, Rule};
use super::super::subject::{Report, Subject};
use crate::path::Path;
use serde_json::Value;

pub static ENV_SYNTAX: Rule = Rule {
    id: "llsd::settings::env-syntax",
    severity: Severity::Error,
    summary: "A variable is written in a way that llama-stack does not put in.",
    why: "llama-stack knows ${env.NAME}, ${env.NAME:=default} and ${env.NAME:+value}, with capitals, digits and \"_\" in the name. Anything else stays in the config as it is written, and becomes an address or a key that does not work.",
    example: "providers:\n  inference:\n    - provider: vllm\n      endpoint: ${env.VLLM_URL:-http://vllm:8000/v1}",
    ..Rule::PLAIN
};

pub static NOT_EXPANDED: Rule = Rule {
    id: "llsd::settings::not-expanded",
    severity: Severity::Error,
    summary: "$(NAME) stands in a value that becomes part of the config.",
    why: "Kubernetes replaces $(NAME) in commands and environment variables only. In the config it stays as it is written.",
    example: "providers:\n  inference:\n    - provider: vllm\n      endpoint: http://$(HOST):8000/v1",
    ..Rule::PLAIN
};

pub(super) static GROUP: Group = Group { rules: &[&ENV_SYNTAX, &NOT_EXPANDED], check: Some(check) };

fn check(subject: &Subject<'_>, report: &mut Report) {
    for entry in subject.providers() {
        for field in ["endpoint", "settings"] {
            if let Some(value) = entry.value.get(field) {
                texts(subject, value, &entry.path.key(field), report);
            }
        }
    }
    for external in subject.external_providers() {
        if let Some(value) = external.value.get("config") {
            texts(subject, value, &external.path.key("config"), report);
        }
    }
    let endpoint = Subject::spec("storage.kv.endpoint");
    if let Some(value) = subject.get(&endpoint) {
        texts(subject, value, &endpoint, report);
    }
}

/// Looks at every text of a value. As deep as a document may be.
fn texts(subject: &Subject<'_>, value: &Value, path: &Path, report: &mut Report) {
    match value {
        Value::String(text) if subject.is_known(path) => one(text, path, report),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, item)| texts(subject, item, &path.index(at), report));
        }
        Value::Object(fields) => fields.iter().for_each(|(key, item)| texts(subject, item, &path.key(key), report)),
        _ => {}
    }
}

fn one(text: &str, path: &Path, report: &mut Report) {
    if let Some(broken) = references(text).into_iter().find(|reference| !is_put_in(reference)) {
        let message = format!(
            "llama-stack does not put in {broken}: it knows ${{env.NAME}}, ${{env.NAME:=default}} and ${{env.NAME:+value}}, \
             with capitals, digits and \"_\" in the name"
        );
        let mended = mended(text);
        let finding = Finding::new(&ENV_SYNTAX, path.clone(), message);
        report.add(match mended {
            Some(mended) => {
                let title = format!("Write {}", references(&mended).first().copied().unwrap_or(&mended));
                finding.with_fix(Fix { preferred: true, ..Fix::replace(title, path.clone(), mended) })
            }
            None => finding,
        });
    }
    if let Some(name) = kubernetes_variable(text) {
        let message = format!(
            "Nothing replaces $({name}) in a config: Kubernetes does so in commands and variables only. llama-stack puts in \
             ${{env.{name}}}"
        );
        let mended = text.replace(&format!("$({name})"), &format!("${{env.{name}}}"));
        let fix = Fix::replace(format!("Write ${{env.{name}}}"), path.clone(), mended);
        report.add(Finding::new(&NOT_EXPANDED, path.clone(), message).with_fix(fix));
    }
}

/// Every `${env.…}` of a text, with its braces.
fn references(text: &str) -> Vec<&str> {
    let found = text.match_indices("${env.").filter_map(|(start, _)| {
        let end = text[start..].find('}')?;
        Some(&text[start..=start + end])
    });
    found.collect()
}

/// Name, and what stands behind it up to the brace.
fn split(reference: &str) -> (&str, &str) {
    let inside = reference.strip_prefix("${env.").and_then(|rest| rest.strip_suffix('}')).unwrap_or_default();
    inside.split_at(inside.find(':').unwrap_or(inside.len()))
}

fn is_put_in(reference: &str) -> bool {
    let (name, rest) = split(reference);
    !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
        && (rest.is_empty() || rest.starts_with(":=") || rest.starts_with(":+"))
}

/// The text with `:=` in place of the shell's `:-` and of a bare `:`. `None` where a name is at fault: only its owner
/// knows what the variable is called.
fn mended(text: &str) -> Option<String> {
    let mut mended = text.to_owned();
    for reference in references(text).into_iter().filter(|reference| !is_put_in(reference)) {
        let (name, rest) = split(reference);
        let default = rest.strip_prefix(":-").or_else(|| rest.strip_prefix(':'))?;
        let new = format!("${{env.{name}:={default}}}");
        if !is_put_in(&new) {
            return None;
        }
        mended = mended.replace(reference, &new);
    }
    Some(mended)
}

/// The first `$(NAME)` of a text that is not escaped.
fn kubernetes_variable(text: &str) -> Option<&str> {
    text.match_indices("$(").find_map(|(start, mark)| {
        let name = text[start + mark.len()..].split_once(')')?.0;
        let is_name = !name.is_empty()
            && !name.starts_with(|char: char| char.is_ascii_digit())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'));
        (is_name && !text[..start].ends_with('$')).then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_llama_stack_puts_in_passes() {
        for text in ["${env.A}", "${env.A_1:=b:-c}", "${env.A:+x}"] {
            assert!(references(text).into_iter().all(is_put_in), "{text}");
        }
        for (text, new) in [
            ("${env.A:b}", Some("${env.A:=b}")),
            ("http://${env.A:-h}:1", Some("http://${env.A:=h}:1")),
            ("${env.A:http://h:1}", Some("${env.A:=http://h:1}")),
            ("${env.lower}", None),
            ("${env.lower:-x}", None),
        ] {
            assert!(!references(text).into_iter().all(is_put_in), "{text}");
            assert_eq!(mended(text).as_deref(), new, "{text}");
        }
    }

    #[test]
    fn variables_of_kubernetes() {
        assert_eq!(kubernetes_variable("http://$(HOST):1"), Some("HOST"));
        assert_eq!(kubernetes_variable("a $$(HOST) $( x ) $(1)"), None);
    }
}
