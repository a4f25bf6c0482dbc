//! Secrets written in plain text. Source: values of secrets never appear in a config; a resource is readable by more
//! people than a Secret, and ends up in version control.

use super::super::context::{Report, RuleContext};
use super::super::finding::{Finding, Severity};
use super::super::rule::{Group, Rule};
use crate::path::Path;

/// Values that stand for "no secret": servers that ask for none are given one of these.
const DUMMIES: [&str; 22] = [
    "fake",
    "dummy",
    "none",
    "null",
    "empty",
    "na",
    "n/a",
    "test",
    "token",
    "not-needed",
    "notneeded",
    "not-required",
    "no-key",
    "nokey",
    "unused",
    "changeme",
    "change-me",
    "replace-me",
    "xxx",
    "no-key-required",
    "placeholder",
    "false",
];

pub static PLAIN_TEXT: Rule = Rule {
    id: "llsd::secret::plain-text",
    severity: Severity::Warning,
    summary: "A password, token or key is written into the resource.",
    why: "Everyone who may read the resource, or the repository that it is kept in, can read it. A Secret keeps it, and \
    the resource only names the Secret.",
    example: "env:\n  - {name: OPENAI_API_KEY, value: sk-…}",
    ..Rule::PLAIN
};

pub(super) static GROUP: Group = Group { rules: &[&PLAIN_TEXT], check: Some(check) };

pub(in crate::check) fn check(context: &RuleContext<'_>, report: &mut Report) {
    for (name, path, _) in context.env() {
        let at = path.key("value");
        if names_secret(name) && context.text(&at).is_some_and(is_secret) {
            let message =
                format!("{name} holds a secret in plain text: take it from a Secret with valueFrom.secretKeyRef");
            report.add(Finding::new(&PLAIN_TEXT, at, message));
        }
    }
    for entry in context.providers() {
        let endpoint = entry.path.key("endpoint");
        if context.text(&endpoint).is_some_and(has_password) {
            let message = "The address holds a password in plain text: keep it in a Secret";
            report.add(Finding::new(&PLAIN_TEXT, endpoint, message));
        }
        let Some(Ok(known)) = context.resolved(entry) else { continue };
        for (name, _) in known.config.iter().filter(|(_, key)| key.secret) {
            let at = entry.path.key("settings").key(name);
            if context.text(&at).is_some_and(is_secret) {
                let field = if known.api_key.as_ref() == Some(name) {
                    "apiKey".to_owned()
                } else {
                    format!("secretRefs.{name}")
                };
                let message = format!("\"{name}\" holds a secret in plain text: take it from a Secret with {field}");
                report.add(Finding::new(&PLAIN_TEXT, at, message));
            }
        }
    }
    let endpoint: Path = RuleContext::spec("storage.kv.endpoint");
    if context.text(&endpoint).is_some_and(has_password) {
        let message = "The address holds a password in plain text: keep it in a Secret and name that in password";
        report.add(Finding::new(&PLAIN_TEXT, endpoint, message));
    }
}

/// Whether a variable's name says that it holds a secret: its last word does, a number behind it aside.
pub(crate) fn names_secret(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    let mut words: Vec<&str> = upper.split('_').collect();
    if words.len() > 1 && words.last().is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_digit())) {
        words.pop();
    }
    let before = words.iter().rev().nth(1).copied().unwrap_or_default();
    match words.last().copied().unwrap_or_default() {
        "TOKEN" | "PASSWORD" | "PASSWD" | "SECRET" | "APIKEY" => true,
        "KEY" => matches!(before, "API" | "SECRET" | "ACCESS" | "PRIVATE" | "MASTER"),
        _ => false,
    }
}

pub(crate) fn is_secret(value: &str) -> bool {
    let value = value.trim();
    let lower = value.to_ascii_lowercase();
    !value.is_empty()
        && !super::placeholder::is_stand_in(&lower)
        && !value.contains("${")
        && !value.contains("$(")
        && !DUMMIES.contains(&lower.as_str())
}

/// Whether an address has the form `scheme://user:password@host`.
fn has_password(address: &str) -> bool {
    let Some((_, rest)) = address.split_once("://") else { return false };
    let place = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let password = place.rsplit_once('@').and_then(|(user, _)| user.split_once(':'));
    password.is_some_and(|(_, password)| is_secret(password))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_names_of_secrets() {
        for name in
            ["VLLM_API_TOKEN", "VLLM_API_TOKEN_1", "OPENAI_API_KEY", "POSTGRES_PASSWORD", "AWS_SECRET_ACCESS_KEY"]
        {
            assert!(names_secret(name), "{name}");
        }
        for name in ["VLLM_MAX_TOKENS", "S3_CREDENTIALS_SECRET_NAME", "KEY", "PRIMARY_KEY", "TOKEN_URL"] {
            assert!(!names_secret(name), "{name}");
        }
    }

    #[test]
    fn knows_secrets_from_stand_ins() {
        assert!(is_secret("sk-123"));
        assert!(!is_secret("fake") && !is_secret("") && !is_secret("${env.TOKEN}") && !is_secret("$(TOKEN)"));
        assert!(
            has_password("postgres://me:pw@db/x")
                && !has_password("http://me@db")
                && !has_password("http://db:80/a@b:c")
        );
    }
}
