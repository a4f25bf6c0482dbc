//! What kustomizations do to resources: found where patches are judged, see [`super::super::part`] and
//! [`super::super::operations`].

use super::super::finding::Severity;
use super::super::rule::{Group, Rule};

pub static DIRECTIVE: Rule = Rule {
    id: "llsd::kustomize::directive",
    severity: Severity::Warning,
    summary: "A directive of a strategic merge patch that kustomize does not apply to a custom resource.",
    why: "Only $patch in a mapping that is not in a list does something; any other directive stays in the result, where the API server refuses it as an unknown field. An unknown word behind $patch stops kustomize.",
    example: "spec:\n  $retainKeys: [distribution]",
    ..Rule::PLAIN
};

pub static OPERATION: Rule = Rule {
    id: "llsd::kustomize::operation",
    severity: Severity::Error,
    summary: "A JSON 6902 operation that kustomize cannot read.",
    why: "kustomize stops at it, and nothing is built.",
    example: "- op: set   # add, remove, replace, move, copy or test\n  path: /spec/workload/replicas\n  value: 3",
    ..Rule::PLAIN
};

pub(super) static GROUP: Group = Group { rules: &[&DIRECTIVE, &OPERATION], check: None };
