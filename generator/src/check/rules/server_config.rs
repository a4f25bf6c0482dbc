//! Rules about the server's own config, a `config.yaml` or a text in a ConfigMap. Their findings are made in
//! [`crate::config`], version by version.

use super::super::finding::Severity;
use super::super::rule::{Group, Rule};

pub static UNKNOWN_KEY: Rule = Rule {
    id: "llsd::config::unknown-key",
    severity: Severity::Warning,
    summary: "The server does not read this key of its config.",
    why: "It ignores keys that it does not know, without a word, so that what was meant never happens.",
    example: "server:\n  prot: 8321",
    ..Rule::PLAIN
};

pub static RENAMED_KEY: Rule = Rule {
    id: "llsd::config::renamed-key",
    severity: Severity::Warning,
    summary: "The server reads this key under another name, or at another place.",
    why: "The old one is ignored without a word: a vLLM provider with url in place of base_url has no address.",
    example: "providers:\n  inference:\n  - provider_id: vllm\n    provider_type: remote::vllm\n    config:\n      url: http://vllm:8000/v1   # base_url since 0.4",
    ..Rule::PLAIN
};

pub static WRONG_VALUE: Rule = Rule {
    id: "llsd::config::wrong-value",
    severity: Severity::Error,
    summary: "The value is not of the type that the server reads here, or none of those that it accepts.",
    why: "The server checks its config when it starts, and exits.",
    example: "server:\n  port: eight",
    ..Rule::PLAIN
};

pub static MISSING: Rule = Rule {
    id: "llsd::config::missing-value",
    severity: Severity::Error,
    summary: "Something is missing without which the server does not start.",
    why: "The server checks its config when it starts, and exits.",
    example: "registered_resources:\n  models:\n  - model_id: embedder\n    provider_id: vllm\n    model_type: embedding   # needs metadata.embedding_dimension",
    ..Rule::PLAIN
};

pub static UNKNOWN_API: Rule = Rule {
    id: "llsd::config::unknown-api",
    severity: Severity::Error,
    summary: "The server has no such API, or makes its providers itself.",
    why: "It exits at an API that it does not know.",
    example: "apis: [inferense]",
    ..Rule::PLAIN
};

pub static UNKNOWN_TYPE: Rule = Rule {
    id: "llsd::config::unknown-provider-type",
    severity: Severity::Error,
    summary: "The server has no provider of this type for the API.",
    why: "It exits at a type that it does not know. Types come and go between versions.",
    example: "providers:\n  inference:\n  - provider_id: vllm\n    provider_type: remote::vlm",
    ..Rule::PLAIN
};

pub static DEPRECATED: Rule = Rule {
    id: "llsd::config::deprecated",
    severity: Severity::Warning,
    summary: "The server still reads this, but will not much longer.",
    why: "A later version ignores or refuses it.",
    example: "providers:\n  vector_io:\n  - provider_id: sqlite\n    provider_type: inline::sqlite_vec",
    ..Rule::PLAIN
};

pub static DUPLICATE: Rule = Rule {
    id: "llsd::config::duplicate-id",
    severity: Severity::Warning,
    summary: "Two providers of one API have the same id, or a resource is registered twice.",
    why: "The last one wins, without a word.",
    example: "providers:\n  inference:\n  - {provider_id: vllm, provider_type: remote::vllm}\n  - {provider_id: vllm, provider_type: remote::openai}",
    ..Rule::PLAIN
};

pub static DANGLING: Rule = Rule {
    id: "llsd::config::unknown-name",
    severity: Severity::Error,
    summary: "A name leads to no provider, or to no storage backend of the right kind.",
    why: "The server exits when it cannot find what is named, and skips what names no provider.",
    example: "registered_resources:\n  models:\n  - {model_id: chat, provider_id: vlm}",
    ..Rule::PLAIN
};

pub static API_MISMATCH: Rule = Rule {
    id: "llsd::config::api-mismatch",
    severity: Severity::Error,
    summary: "What is served and what there are providers for do not go together.",
    why: "The server exits at an API that needs a provider or another API and has none. Providers of an API that is not \
          served are made and do nothing.",
    example: "apis: [inference, agents]\nproviders:\n  inference: []   # no provider of agents",
    ..Rule::PLAIN
};

pub static WRONG_DEFAULT: Rule = Rule {
    id: "llsd::config::wrong-default",
    severity: Severity::Warning,
    summary: "The default of a variable is not of the type that is wanted, once it is substituted.",
    why: "A substituted text that looks like a number or a truth value becomes one, and the server refuses it where it \
          wants a text.",
    example: "config:\n  api_token: ${env.TOKEN:=12345}",
    ..Rule::PLAIN
};

pub static PLAIN_SECRET: Rule = Rule {
    id: "llsd::config::plain-secret",
    severity: Severity::Warning,
    summary: "A password, token or key is written into the config.",
    why: "A ConfigMap is readable by more people than a Secret, and ends up in version control.",
    example: "config:\n  api_token: sk-…",
    ..Rule::PLAIN
};

pub static SHARED_STORAGE: Rule = Rule {
    id: "llsd::config::shared-storage",
    severity: Severity::Warning,
    summary: "Two storage backends use one file.",
    why: "They make their tables in the same database and lock each other out.",
    example: "storage:\n  backends:\n    kv_default: {type: kv_sqlite, db_path: /data/store.db}\n    sql_default: {type: sql_sqlite, db_path: /data/store.db}",
    ..Rule::PLAIN
};

pub(super) static GROUP: Group = Group {
    rules: &[
        &UNKNOWN_KEY,
        &RENAMED_KEY,
        &WRONG_VALUE,
        &MISSING,
        &UNKNOWN_API,
        &UNKNOWN_TYPE,
        &DEPRECATED,
        &DUPLICATE,
        &DANGLING,
        &API_MISMATCH,
        &WRONG_DEFAULT,
        &PLAIN_SECRET,
        &SHARED_STORAGE,
    ],
    check: None,
};
