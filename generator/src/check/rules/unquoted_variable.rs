//! Variables of a template without quotes. Source: Kubernetes (the value of an environment variable is a string; what
//! `envsubst` writes without quotes is read as YAML, so `384` becomes a number).

use super::super::finding::{Finding, Fix, FixEdit, Severity};
use super::super::rule::{Group, Rule};
use crate::api::ApiVersion;
use crate::path::{Path, Segment};
use serde_json::Value;
use std::collections::BTreeSet;

pub static UNQUOTED_VARIABLE: Rule = Rule {
    id: "llsd::env::unquoted-variable",
    severity: Severity::Warning,
    summary: "A shell variable that likely holds a number or a boolean stands without quotes as the value of an environment variable.",
    why: "Filled in, it is no longer a string, and the API server refuses the resource.",
    example: "env:\n  - name: EMBEDDING_DIMENSION\n    value: ${EMBEDDING_DIMENSION}",
    ..Rule::PLAIN
};

pub(super) static GROUP: Group = Group { rules: &[&UNQUOTED_VARIABLE], check: None };

/// Words in the name of a variable that holds a number or a boolean. Of other names nothing is said: most hold a URL
/// or a word, which need no quotes.
const WORDS: [&str; 26] = [
    "COUNT",
    "DEBUG",
    "DIM",
    "DIMENSION",
    "DIMENSIONS",
    "DISABLE",
    "DISABLED",
    "ENABLE",
    "ENABLED",
    "INTERVAL",
    "LENGTH",
    "LIMIT",
    "MAX",
    "MIN",
    "NUM",
    "PORT",
    "REPLICAS",
    "RETRIES",
    "SECONDS",
    "SIZE",
    "TEMPERATURE",
    "TIMEOUT",
    "TLS",
    "TOKENS",
    "VERIFY",
    "WORKERS",
];

/// Findings about the places of a resource that hold nothing but a shell variable without quotes, which only the text
/// tells: in the plain value they look like any string.
#[must_use]
pub fn unquoted_variables(resource: &Value, version: ApiVersion, bare: &BTreeSet<Path>) -> Vec<Finding> {
    let list = Path::parse(match version {
        ApiVersion::V1Alpha1 => "spec.server.containerSpec.env",
        ApiVersion::V1Alpha2 | ApiVersion::OgxV1Beta1 => "spec.workload.overrides.env",
    });
    let of_env = bare.iter().filter(|path| {
        path.starts_with(&list)
            && path.segments().len() == list.segments().len() + 2
            && matches!(path.last(), Some(Segment::Key(key)) if key == "value")
    });
    let unquoted = of_env.filter_map(|path| {
        let text = path.find(resource)?.as_str()?;
        let name = path.parent()?.key("name").find(resource).and_then(Value::as_str).unwrap_or_default();
        (suggests_no_text(name) || suggests_no_text(text)).then(|| finding(path, text))
    });
    unquoted.collect()
}

fn suggests_no_text(name: &str) -> bool {
    name.split(|char: char| !char.is_ascii_alphanumeric())
        .any(|word| WORDS.contains(&word.to_ascii_uppercase().as_str()))
}

fn finding(path: &Path, text: &str) -> Finding {
    let message = format!(
        "{text} has no quotes: filled in with a number or a boolean it is no string any more, and the API server refuses it. Write \"{text}\""
    );
    let edits = vec![FixEdit::Quote { path: path.clone() }];
    let fix = Fix { title: "Put it in quotes".to_owned(), edits, preferred: true };
    Finding::new(&UNQUOTED_VARIABLE, path.clone(), message).with_fix(fix)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Plain;

    #[test]
    fn only_bare_numbers_and_booleans_to_be_are_reported() {
        let text = "spec: {server: {containerSpec: {env: [\n  {name: EMBEDDING_DIMENSION, value: $DIM},\n  {name: PORT, value: \"${PORT}\"},\n  {name: VLLM_URL, value: $URL},\n  {name: A_PORT, value: \"1\"}]}}}";
        let plain = Plain::read(&llsd_yaml::parse_document(text));
        let found = unquoted_variables(&plain.value, ApiVersion::V1Alpha1, &plain.bare);
        let paths: Vec<_> = found.iter().map(|finding| finding.path.to_string()).collect();
        assert_eq!(paths, ["spec.server.containerSpec.env[0].value"]);
    }
}
