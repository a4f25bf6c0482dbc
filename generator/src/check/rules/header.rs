//! What [`crate::check::header`] finds about `apiVersion` and `kind`. Source: the API server, which has no such type.

use super::super::finding::Severity;
use super::super::rule::{Group, Rule};

pub static WRONG_GROUP: Rule = Rule {
    id: "llsd::kind::wrong-group",
    severity: Severity::Error,
    summary: "The resource is written for another API group.",
    why: "The groups llama-stack.io, llama.x-k8s.io, llama.meta.com and llamastack.ai stem from drafts; no API \
    server knows the kind there.",
    example: "apiVersion: llama-stack.io/v1alpha1\nkind: LlamaStackDistribution",
    ..Rule::PLAIN
};

pub static UNKNOWN_VERSION: Rule = Rule {
    id: "llsd::kind::unknown-version",
    severity: Severity::Error,
    summary: "The resource's version does not exist.",
    why: "The API server serves v1alpha1 and v1alpha2 of LlamaStackDistribution and v1beta1 of OGXServer, and refuses \
    others.",
    example: "apiVersion: llamastack.io/v1\nkind: LlamaStackDistribution",
    ..Rule::PLAIN
};

pub static UNKNOWN_KIND: Rule = Rule {
    id: "llsd::kind::unknown-kind",
    severity: Severity::Error,
    summary: "The kind is missing or mistyped.",
    why: "The API server has no such kind in the group, and refuses it.",
    example: "apiVersion: llamastack.io/v1alpha2\nkind: LlamaStackDistributon",
    ..Rule::PLAIN
};

pub(super) static GROUP: Group = Group { rules: &[&WRONG_GROUP, &UNKNOWN_VERSION, &UNKNOWN_KIND], check: None };
