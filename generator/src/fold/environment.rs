//! The environment of the server's container, as Kubernetes makes it from the resource.

use crate::path::Path;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Where the container has the value of a variable from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Source {
    /// Written in the resource, `$(NAME)` expanded.
    Text(String),
    /// A key of a Secret that must exist. Its value is taken to be there, and not to be empty.
    Secret {
        /// `metadata.name` of a Secret in the resource's namespace.
        name: String,
        /// The key of its `data`.
        key: String,
    },
    /// Anything else, in words that are the same for the same source alone: it is compared and shown, never written.
    Elsewhere(String),
}

/// The variables of a container.
pub(super) type Env = BTreeMap<String, Source>;

/// Variables that the operator gives every server. What they hold follows from fields that are compared by themselves.
const OPERATORS: [&str; 5] = ["HF_HOME", "LLS_WORKERS", "LLS_PORT", "LLAMA_STACK_CONFIG", "LLAMA_STACK_PORT"];

/// Variables by which a user tells llama-stack, or the start script of its images, which config to read.
pub(super) const CONFIG_CHOICES: [&str; 3] = ["LLAMA_STACK_CONFIG", "RUN_CONFIG_PATH", "DISTRO_NAME"];

/// Reads a list of environment variables as the kubelet does: in order, each `$(NAME)` replaced by what stands before
/// it in the list; of two variables with one name the last counts.
pub(super) fn environment(list: &Value) -> Env {
    let mut env: Env = OPERATORS
        .iter()
        .map(|name| ((*name).to_owned(), Source::Elsewhere(format!("the operator's {name}"))))
        .collect();
    for item in list.as_array().into_iter().flatten() {
        let Some(name) = item.get("name").and_then(Value::as_str) else { continue };
        let source = match item.get("valueFrom").filter(|from| !from.is_null()) {
            None => expanded(item.get("value").and_then(Value::as_str).unwrap_or_default(), &env),
            Some(from) => secret_of(from).unwrap_or_else(|| Source::Elsewhere(from.to_string())),
        };
        env.insert(name.to_owned(), source);
    }
    env
}

/// The Secret that a variable comes from, if it must exist: `optional` has no counterpart in a provider.
fn secret_of(from: &Value) -> Option<Source> {
    let reference = from.get("secretKeyRef")?;
    if reference.get("optional") == Some(&Value::Bool(true)) {
        return None;
    }
    let text = |field: &str| reference.get(field).and_then(Value::as_str).map(str::to_owned);
    Some(Source::Secret { name: text("name")?, key: text("key")? })
}

/// A piece of a text with `$(NAME)` in it.
#[derive(Debug, PartialEq, Eq)]
enum Piece<'t> {
    Text(&'t str),
    Variable(&'t str),
}

/// Takes a text apart as `k8s.io/kubernetes/third_party/forked/golang/expansion` does: `$$` is a dollar sign, `$(NAME)`
/// a variable, and any other dollar sign stands for itself.
fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        let behind = &rest[at + 1..];
        let closed = behind.strip_prefix('(').and_then(|name| name.split_once(')'));
        if let Some((name, after)) = closed {
            found.push(Piece::Text(&rest[..at]));
            found.push(Piece::Variable(name));
            rest = after;
        } else if let Some(after) = behind.strip_prefix('$') {
            found.push(Piece::Text(&rest[..=at]));
            rest = after;
        } else {
            found.push(Piece::Text(&rest[..=at]));
            rest = behind;
        }
    }
    found.push(Piece::Text(rest));
    found
}

fn expanded(text: &str, env: &Env) -> Source {
    let mut known = true;
    let mut out = String::new();
    for piece in pieces(text) {
        match piece {
            Piece::Text(text) => out.push_str(text),
            Piece::Variable(name) => match env.get(name) {
                Some(Source::Text(value)) => out.push_str(value),
                None => out.push_str(&format!("$({name})")),
                Some(Source::Secret { name, key }) => {
                    known = false;
                    out.push_str(&format!("$(key {key} of Secret {name})"));
                }
                Some(Source::Elsewhere(from)) => {
                    known = false;
                    out.push_str(&format!("$({from})"));
                }
            },
        }
    }
    if known { Source::Text(out) } else { Source::Elsewhere(out) }
}

/// Whether Kubernetes makes another text of this one: then it means something in `env`, `command` and `args` alone.
pub(super) fn is_expanded(text: &str) -> bool {
    let mut plain = String::with_capacity(text.len());
    for piece in pieces(text) {
        match piece {
            Piece::Text(part) => plain.push_str(part),
            Piece::Variable(_) => return true,
        }
    }
    plain != text
}

/// The variables that something other than the config uses by `$(NAME)`, each with who does: another variable, or the
/// command.
pub(super) fn used(object: &Value) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let container = Path::parse("spec.server.containerSpec").find(object);
    let list = |field: &str| container.and_then(|container| container.get(field)?.as_array()).into_iter().flatten();
    let mut add = |text: &str, by: &str| {
        for piece in pieces(text) {
            if let Piece::Variable(name) = piece {
                found.entry(name.to_owned()).or_insert_with(|| by.to_owned());
            }
        }
    };
    for item in list("env") {
        let text = |field: &str| item.get(field).and_then(Value::as_str);
        add(text("value").unwrap_or_default(), text("name").unwrap_or_default());
    }
    for field in ["command", "args"] {
        list(field).filter_map(Value::as_str).for_each(|text| add(text, &format!("spec.server.containerSpec.{field}")));
    }
    found
}

/// Why a variable has to stay in the environment, whatever the config says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bound {
    /// Another variable, or the command, uses it by `$(NAME)`: the name of the one, the path of the other.
    UsedBy(String),
    /// Kubernetes expands something in its value, which it does in `env` alone.
    Expanded,
    /// llama-stack would read its text otherwise as a part of the config.
    Substituted,
    /// llama-stack or one of its libraries reads it by itself.
    Library,
}

impl fmt::Display for Bound {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UsedBy(user) => write!(out, "{user} uses it by $(…)"),
            Self::Expanded => out.write_str("Kubernetes expands $ in its value, in env alone"),
            Self::Substituted => out.write_str("as a part of the config its text would mean something else"),
            Self::Library => out.write_str("a library of llama-stack reads it too"),
        }
    }
}

/// The variables of a resource.
#[derive(Clone, Debug, Default)]
pub(super) struct Variables {
    /// As the container has them.
    pub(super) all: Env,
    /// The same, but those that cannot be said elsewhere hold nothing that could be written.
    pub(super) free: Env,
    /// Those, each with the reason.
    pub(super) bound: BTreeMap<String, Bound>,
}

impl Variables {
    /// Those of a v1alpha1 resource.
    pub(super) fn of(object: &Value) -> Self {
        let list = Path::parse("spec.server.containerSpec.env").find(object).unwrap_or(&Value::Null);
        let all = environment(list);
        let mut bound: BTreeMap<String, Bound> =
            used(object).into_iter().map(|(name, by)| (name, Bound::UsedBy(by))).collect();
        for item in list.as_array().into_iter().flatten() {
            let text = |field: &str| item.get(field).and_then(Value::as_str).unwrap_or_default();
            let (name, value) = (text("name"), text("value"));
            let why = if is_expanded(value) {
                Bound::Expanded
            } else if value.contains("${env.") || value.starts_with('~') {
                Bound::Substituted
            } else if is_read_by_libraries(name) {
                Bound::Library
            } else {
                continue;
            };
            bound.entry(name.to_owned()).or_insert(why);
        }
        let mut free = all.clone();
        for name in bound.keys() {
            if let Some(source) = free.get_mut(name) {
                *source = Source::Elsewhere(name.clone());
            }
        }
        Self { all, free, bound }
    }
}

/// Names that a list has more than once.
pub(super) fn repeated(list: &[Value]) -> BTreeSet<&str> {
    let mut seen = BTreeSet::new();
    let names = list.iter().filter_map(|item| item.get("name")?.as_str());
    names.filter(|name| !seen.insert(*name)).collect()
}

/// Variables that llama-stack, or a library that its providers use, reads by itself and not through the config: they
/// stay, whatever the config says. From the sources of llama-stack 0.4.7 and of the client libraries of its providers.
pub(super) fn is_read_by_libraries(name: &str) -> bool {
    const PREFIXES: [&str; 18] = [
        "ANTHROPIC_",
        "AWS_",
        "AZURE_",
        "CEREBRAS_",
        "GOOGLE_",
        "GUARDRAILS_",
        "HF_",
        "HUGGING",
        "LITELLM_",
        "LLAMA_STACK_",
        "NVIDIA_",
        "OCI_",
        "OPENAI_",
        "OTEL_",
        "TOGETHER_",
        "TOKENIZERS_",
        "TRANSFORMERS_",
        "WATSONX_",
    ];
    const NAMES: [&str; 12] = [
        "ALL_PROXY",
        "CURL_CA_BUNDLE",
        "HOME",
        "HTTPS_PROXY",
        "HTTP_PROXY",
        "NO_PROXY",
        "OLLAMA_HOST",
        "PATH",
        "REQUESTS_CA_BUNDLE",
        "SSL_CERT_DIR",
        "SSL_CERT_FILE",
        "TMPDIR",
    ];
    PREFIXES.iter().any(|prefix| name.starts_with(prefix)) || NAMES.contains(&name.to_ascii_uppercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn variables_are_expanded_as_the_kubelet_does() {
        let env = environment(&json!([
            {"name": "HOST", "value": "vllm"},
            {"name": "URL", "value": "http://$(HOST):$(PORT)/$$(HOST)/$HOST/$"},
            {"name": "PORT", "value": "8000"},
            {"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}},
            {"name": "HEADER", "value": "Bearer $(KEY)"},
            {"name": "OPEN", "value": "$(HOST"},
            {"name": "HOST", "value": "other"},
        ]));
        let text = |text: &str| Some(Source::Text(text.to_owned()));
        assert_eq!(env.get("URL").cloned(), text("http://vllm:$(PORT)/$(HOST)/$HOST/$"));
        assert_eq!(env.get("HOST").cloned(), text("other"));
        assert_eq!(env.get("OPEN").cloned(), text("$(HOST"));
        assert_eq!(env["HEADER"], Source::Elsewhere("Bearer $(key k of Secret s)".to_owned()));
    }

    #[test]
    fn a_text_that_kubernetes_changes_is_seen() {
        for text in ["http://$(HOST):1", "a$$b", "$$(A)"] {
            assert!(is_expanded(text), "{text}");
        }
        for text in ["", "plain", "${HOST}", "$HOST", "a$", "$(open"] {
            assert!(!is_expanded(text), "{text}");
        }
    }

    #[test]
    fn users_of_a_variable_are_named() {
        let object = json!({"spec": {"server": {"containerSpec": {
            "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "$(A)"}],
            "args": ["--port", "$(P)"],
        }}}});
        let used = used(&object);
        assert_eq!(used["A"], "B");
        assert_eq!(used["P"], "spec.server.containerSpec.args");
    }
}
