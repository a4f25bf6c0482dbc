//! Shapes of earlier proposals, found by [`crate::fold::drafts`]. Source: contract section 2, "Older drafts".

use super::super::finding::Severity;
use super::RuleInfo;

pub(super) const RULES: &[RuleInfo] = &[
    RuleInfo {
        id: "llsd::draft::provider-object",
        severity: Severity::Error,
        summary: "An API is given one provider as an object, as an earlier proposal had it.",
        why: "The API server expects a list, and refuses the resource.",
        example: "providers:\n  inference:\n    provider: vllm",
    },
    RuleInfo {
        id: "llsd::draft::provider-host",
        severity: Severity::Error,
        summary: "A provider has host in place of endpoint, as an earlier proposal had it.",
        why: "The API server knows no such field.",
        example: "providers:\n  inference:\n    - {provider: vllm, host: \"http://vllm:8000/v1\"}",
    },
    RuleInfo {
        id: "llsd::draft::flat-secret",
        severity: Severity::Error,
        summary: "A Secret is named without secretKeyRef, as an earlier proposal had it.",
        why: "The API server knows no such fields there.",
        example: "apiKey: {name: openai, key: token}",
    },
    RuleInfo {
        id: "llsd::draft::model-string",
        severity: Severity::Error,
        summary: "A model is a string, as an earlier proposal had it.",
        why: "The API server expects an object with a name.",
        example: "resources:\n  models: [llama3]",
    },
    RuleInfo {
        id: "llsd::draft::expose-boolean",
        severity: Severity::Error,
        summary: "expose is true or false, as an earlier proposal had it.",
        why: "The API server expects an object; {} switches it on.",
        example: "networking:\n  expose: true",
    },
    RuleInfo {
        id: "llsd::draft::misplaced",
        severity: Severity::Error,
        summary: "A field is where an earlier proposal had it.",
        why: "The API server knows no such field there.",
        example: "networking:\n  tls:\n    configMapName: ca",
    },
];
