//! Variables inside the texts that become the server's config. Source: llama-stack 0.4 to 0.7 puts in `${env.NAME}`,
//! `${env.NAME:=default}` and `${env.NAME:+value}`, of names of capitals, digits and `_`, and leaves all else as it stands.
//! The kubelet puts in `$(NAME)` in commands and variables of a pod, not in a config.

use super::super::context::{Report, RuleContext};
use super::super::finding::{Finding, Fix, Severity};
use super::super::rule::{Group, Rule};
use crate::config::environment::{Form, expressions};
use crate::config::trail::Trail;
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

fn check(context: &RuleContext<'_>, report: &mut Report) {
    let mut look = |value: &Value, path: &Path| {
        findings(value, path, &|path| context.is_known(path)).into_iter().for_each(|finding| report.add(finding));
    };
    for entry in context.providers() {
        for field in ["endpoint", "settings"] {
            if let Some(value) = entry.value.get(field) {
                look(value, &entry.path.key(field));
            }
        }
    }
    for external in context.external_providers() {
        if let Some(value) = external.value.get("config") {
            look(value, &external.path.key("config"));
        }
    }
    let endpoint = RuleContext::spec("storage.kv.endpoint");
    if let Some(value) = context.get(&endpoint) {
        look(value, &endpoint);
    }
}

/// What is wrong with the variables in the texts of a value that is, or becomes, part of a config. Places that are not
/// `known` are left alone. As deep as a document may be.
pub(crate) fn findings(value: &Value, path: &Path, known: &dyn Fn(&Path) -> bool) -> Vec<Finding> {
    let mut found = Vec::new();
    walk(value, Trail::Start(path), known, &mut found);
    found
}

fn walk(value: &Value, at: Trail<'_>, known: &dyn Fn(&Path) -> bool, found: &mut Vec<Finding>) {
    match value {
        Value::String(text) if is_wrong(text) => {
            let path = at.path();
            if known(&path) {
                found.extend(of_text(text, &path));
            }
        }
        Value::Array(items) => {
            let items = items.iter().enumerate();
            items.for_each(|(position, item)| walk(item, Trail::Index(&at, position), known, found));
        }
        Value::Object(fields) => {
            fields.iter().for_each(|(name, value)| walk(value, Trail::Key(&at, name), known, found));
        }
        _ => {}
    }
}

fn is_wrong(text: &str) -> bool {
    expressions(text).iter().any(|one| one.form == Form::Refused) || kubernetes_variable(text).is_some()
}

fn of_text(text: &str, path: &Path) -> Vec<Finding> {
    let mut found = Vec::new();
    if let Some(broken) = expressions(text).into_iter().find(|one| one.form == Form::Refused) {
        let message = format!(
            "llama-stack does not put in {}: it knows ${{env.NAME}}, ${{env.NAME:=default}} and ${{env.NAME:+value}}, \
             with capitals, digits and \"_\" in the name",
            broken.written(text)
        );
        let finding = Finding::new(&ENV_SYNTAX, path.clone(), message);
        found.push(match mended(text) {
            Some(mended) => {
                let first = expressions(&mended).first().map(|one| one.written(&mended).to_owned());
                let title = format!("Write {}", first.unwrap_or_else(|| mended.clone()));
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
        found.push(Finding::new(&NOT_EXPANDED, path.clone(), message).with_fix(fix));
    }
    found
}

/// The text with `:=` in place of the shell's `:-` and of a bare `:`. `None` where a name is at fault: only its owner
/// knows what the variable is called.
fn mended(text: &str) -> Option<String> {
    let mut mended = text.to_owned();
    for broken in expressions(text).into_iter().rev().filter(|one| one.form == Form::Refused) {
        let inside = broken.written(text).strip_prefix("${env.")?.strip_suffix('}')?;
        let (name, rest) = inside.split_at(inside.find(':')?);
        let default = rest.strip_prefix(":-").or_else(|| rest.strip_prefix(':'))?;
        let new = format!("${{env.{name}:={default}}}");
        if expressions(&new).iter().any(|one| one.form == Form::Refused) {
            return None;
        }
        mended.replace_range(broken.start..broken.end, &new);
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

    fn is_refused(text: &str) -> bool {
        expressions(text).iter().any(|one| one.form == Form::Refused)
    }

    #[test]
    fn only_what_llama_stack_puts_in_passes() {
        for text in ["${env.A}", "${env.A_1:=b:-c}", "${env.A:+x}"] {
            assert!(!is_refused(text), "{text}");
        }
        for (text, new) in [
            ("${env.A:b}", Some("${env.A:=b}")),
            ("http://${env.A:-h}:1", Some("http://${env.A:=h}:1")),
            ("${env.A:http://h:1}", Some("${env.A:=http://h:1}")),
            ("${env.lower}", None),
            ("${env.lower:-x}", None),
        ] {
            assert!(is_refused(text), "{text}");
            assert_eq!(mended(text).as_deref(), new, "{text}");
        }
    }

    #[test]
    fn variables_of_kubernetes() {
        assert_eq!(kubernetes_variable("http://$(HOST):1"), Some("HOST"));
        assert_eq!(kubernetes_variable("a $$(HOST) $( x ) $(1)"), None);
    }
}
