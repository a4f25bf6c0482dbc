//! What reading the text says before anything else. Source: kubectl and the API server, which read such texts not at all.

use super::super::finding::Severity;
use super::super::rule::{Group, Rule};

pub static SYNTAX: Rule = Rule {
    id: "llsd::yaml::syntax",
    severity: Severity::Error,
    summary: "The text is not well-formed YAML at this place.",
    why: "kubectl and the API server refuse the whole file.",
    example: "metadata:\n  name: \"demo",
    ..Rule::PLAIN
};

pub static DUPLICATE_KEY: Rule = Rule {
    id: "llsd::yaml::duplicate-key",
    severity: Severity::Error,
    summary: "A key stands twice in one mapping.",
    why: "Only the last value counts; with strict validation the API server refuses the resource.",
    example: "spec:\n  distribution: {name: starter}\n  distribution: {name: remote-vllm}",
    ..Rule::PLAIN
};

pub static TOO_LARGE: Rule = Rule {
    id: "llsd::yaml::too-large",
    severity: Severity::Error,
    summary: "The text is nested too deep, or its aliases make it too large.",
    why: "Such texts exhaust their readers; the API server refuses them too. What is left out is not checked.",
    example: "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]   # and so on",
    ..Rule::PLAIN
};

pub(super) static GROUP: Group = Group { rules: &[&SYNTAX, &DUPLICATE_KEY, &TOO_LARGE], check: None };
