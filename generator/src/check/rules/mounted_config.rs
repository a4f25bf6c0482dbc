//! Rules about a config of the server together with the resources that mount it. Their findings are made in
//! [`crate::config::context`].

use super::super::finding::Severity;
use super::super::rule::{Group, Rule};

pub static UNSET_VARIABLE: Rule = Rule {
    id: "llsd::config::unset-variable",
    severity: Severity::Warning,
    summary: "The config reads a variable without a default that the resource which mounts it does not set.",
    why: "The server exits at a variable that is unset or empty, also inside a provider that is switched off.",
    example: "config:\n  base_url: ${env.VLLM_URL}   # and the resource has no env entry VLLM_URL",
    ..Rule::PLAIN
};

pub static WRONG_VARIABLE: Rule = Rule {
    id: "llsd::config::wrong-variable",
    severity: Severity::Error,
    summary: "The value that the resource gives a variable does not fit where the config reads it.",
    why: "Values of variables are converted by their looks and checked when the server starts: it exits.",
    example: "config:\n  max_tokens: ${env.MAX_TOKENS:=4096}   # and the resource sets MAX_TOKENS to many",
    ..Rule::PLAIN
};

pub static UNMOUNTED_PATH: Rule = Rule {
    id: "llsd::config::unmounted-path",
    severity: Severity::Warning,
    summary: "A file or folder that the config names is in no volume of the resource that mounts it.",
    why: "What a container writes outside of volumes is lost with it, and what it reads has to be in the image.",
    example: "storage:\n  backends:\n    kv_default: {type: kv_sqlite, db_path: /data/kv.db}   # and nothing is mounted at /data",
    ..Rule::PLAIN
};

pub static LOCAL_STORAGE: Rule = Rule {
    id: "llsd::config::local-storage",
    severity: Severity::Warning,
    summary: "The resource that mounts the config runs several pods, and the config keeps its state in files.",
    why: "Each pod has a database of its own, so that what one stores the others do not have; on a shared volume they \
          lock each other out.",
    example: "storage:\n  backends:\n    kv_default: {type: kv_sqlite, db_path: /data/kv.db}   # and the resource has replicas: 3",
    ..Rule::PLAIN
};

pub static DISABLED_API: Rule = Rule {
    id: "llsd::config::disabled-api",
    severity: Severity::Warning,
    summary: "The resource switches an API off, and the config that it mounts serves it.",
    why: "The list takes APIs out of a config that is generated. One that is mounted is read as it is.",
    example: "apis: [inference, safety]   # and the resource has overrideConfig and disabled: [safety]",
    ..Rule::PLAIN
};

pub static PORT: Rule = Rule {
    id: "llsd::config::port-without-effect",
    severity: Severity::Information,
    summary: "The port in the config is not the one that the server listens on.",
    why: "The operator starts llama-stack with the port of the resource, and llama-stack ignores the one in its config.",
    example: "server:\n  port: 5000   # and the resource names no port",
    ..Rule::PLAIN
};

pub(super) static GROUP: Group = Group {
    rules: &[&UNSET_VARIABLE, &WRONG_VARIABLE, &UNMOUNTED_PATH, &LOCAL_STORAGE, &DISABLED_API, &PORT],
    check: None,
};
