//! What the walk over the CRD's schema and its rules says, and what reading the text says before. Source: the API
//! server with strict field validation.

use super::super::finding::Severity;
use super::RuleInfo;

pub(super) const RULES: &[RuleInfo] = &[
    RuleInfo {
        id: "llsd::yaml::syntax",
        severity: Severity::Error,
        summary: "The text is not well-formed YAML at this place.",
        why: "kubectl and the API server refuse the whole file.",
        example: "metadata:\n  name: \"demo",
    },
    RuleInfo {
        id: "llsd::yaml::duplicate-key",
        severity: Severity::Error,
        summary: "A key stands twice in one mapping.",
        why: "Only the last value counts; with strict validation the API server refuses the resource.",
        example: "spec:\n  distribution: {name: starter}\n  distribution: {name: remote-vllm}",
    },
    RuleInfo {
        id: "llsd::yaml::too-large",
        severity: Severity::Error,
        summary: "The text is nested too deep, or its aliases make it too large.",
        why: "Such texts exhaust their readers; the API server refuses them too. What is left out is not checked.",
        example: "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]   # and so on",
    },
    RuleInfo {
        id: "llsd::schema::unknown-field",
        severity: Severity::Error,
        summary: "The resource has no such field.",
        why: "The API server refuses it with strict validation, and otherwise drops it in silence.",
        example: "spec:\n  provider: {}",
    },
    RuleInfo {
        id: "llsd::schema::type",
        severity: Severity::Error,
        summary: "The value is of another type than the field.",
        why: "The API server refuses the resource. Words such as yes and numbers need quotes to be strings.",
        example: "env:\n  - {name: MAX_TOKENS, value: 4096}",
    },
    RuleInfo {
        id: "llsd::schema::required",
        severity: Severity::Error,
        summary: "A required field is missing.",
        why: "The API server refuses the resource.",
        example: "providers:\n  inference:\n    - endpoint: http://vllm:8000/v1   # without provider",
    },
    RuleInfo {
        id: "llsd::schema::enum",
        severity: Severity::Error,
        summary: "The value is not one of those that the field takes.",
        why: "The API server refuses the resource.",
        example: "storage:\n  kv: {type: memcached}",
    },
    RuleInfo {
        id: "llsd::schema::bounds",
        severity: Severity::Error,
        summary: "The value is too small, too large, too short or too long.",
        why: "The API server refuses the resource.",
        example: "networking: {port: 80}",
    },
    RuleInfo {
        id: "llsd::schema::pattern",
        severity: Severity::Error,
        summary: "The text does not have the form that the field asks for.",
        why: "The API server refuses the resource.",
        example: "workload:\n  storage: {size: ten}",
    },
    RuleInfo {
        id: "llsd::schema::format",
        severity: Severity::Error,
        summary: "The text does not have the format that the field asks for, such as a date.",
        why: "The API server refuses the resource.",
        example: "lastUpdated: yesterday",
    },
    RuleInfo {
        id: "llsd::schema::duplicate-key",
        severity: Severity::Error,
        summary: "Two items of a list have the same key, or a set has an item twice.",
        why: "The API server refuses the resource.",
        example: "topologySpreadConstraints:\n  - {topologyKey: zone, whenUnsatisfiable: DoNotSchedule, maxSkew: 1}\n  - {topologyKey: zone, whenUnsatisfiable: DoNotSchedule, maxSkew: 2}",
    },
    RuleInfo {
        id: "llsd::schema::alternatives",
        severity: Severity::Error,
        summary: "The value fits none, or several, of the forms of which it must have one.",
        why: "The API server refuses the resource.",
        example: "minAvailable: true",
    },
    RuleInfo {
        id: "llsd::schema::metadata",
        severity: Severity::Error,
        summary: "Type or metadata of an embedded resource are not valid.",
        why: "The API server refuses the resource.",
        example: "metadata: {name: 1}",
    },
    RuleInfo {
        id: "llsd::cel::rule",
        severity: Severity::Error,
        summary: "A rule between fields that the CRD states is broken. The message is the API server's.",
        why: "The API server refuses the resource.",
        example: "distribution: {name: starter, image: \"quay.io/example/llama-stack:0.4.7\"}",
    },
    RuleInfo {
        id: "llsd::cel::error",
        severity: Severity::Error,
        summary: "A rule of the CRD could not be evaluated on this value. The message is the API server's.",
        why: "The API server refuses the resource.",
        example: "a rule that divides by a field that is 0",
    },
];
