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

pub static CONTROL_CHARACTER: Rule = Rule {
    id: "llsd::yaml::control-character",
    severity: Severity::Error,
    summary: "A character that kubectl refuses, or takes for a line break.",
    why: "YAML 1.1 allows no control characters, also not in comments: kubectl reads nothing of the document.",
    example: "metadata:\n  name: demo   # ESC[0m pasted from a terminal",
    ..Rule::PLAIN
};

pub static DIRECTIVE: Rule = Rule {
    id: "llsd::yaml::directive",
    severity: Severity::Error,
    summary: "A line %YAML or %TAG stands in front of a document.",
    why: "kubectl cuts the file at the line --- first: the directive is a document of its own then, and refused.",
    example: "%YAML 1.2\n---\napiVersion: llamastack.io/v1alpha2",
    ..Rule::PLAIN
};

pub static SEPARATOR: Rule = Rule {
    id: "llsd::yaml::separator",
    severity: Severity::Error,
    summary: "A line that begins with --- goes on with something else than a comment.",
    why: "YAML allows it, kubectl refuses the file: \"invalid Yaml document separator\".",
    example: "--- {apiVersion: llamastack.io/v1alpha2, kind: LlamaStackDistribution}",
    ..Rule::PLAIN
};

pub static UNREAD: Rule = Rule {
    id: "llsd::yaml::unread",
    severity: Severity::Error,
    summary: "A document follows the end of another one, `...`, without a line ---.",
    why: "kubectl cuts files at lines --- alone, and reads the first document of each part: this one is dropped silently.",
    example: "metadata:\n  name: one\n...\napiVersion: llamastack.io/v1alpha2   # of the next resource",
    ..Rule::PLAIN
};

pub(super) static GROUP: Group = Group {
    rules: &[&SYNTAX, &DUPLICATE_KEY, &TOO_LARGE, &CONTROL_CHARACTER, &DIRECTIVE, &SEPARATOR, &UNREAD],
    check: None,
};
