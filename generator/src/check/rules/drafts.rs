//! Shapes of earlier proposals, found by [`crate::check::drafts`]. Source: the proposals of v1alpha2 that were
//! published before it, from which files are still about.

use super::super::context::{Report, RuleContext};
use super::super::finding::Severity;
use super::super::rule::{Group, Rule};
use crate::api::ApiVersion;
use crate::check;

pub static PROVIDER_OBJECT: Rule = Rule {
    id: "llsd::draft::provider-object",
    severity: Severity::Error,
    summary: "An API is given one provider as an object, as an earlier proposal had it.",
    why: "The API server expects a list, and refuses the resource.",
    example: "providers:\n  inference:\n    provider: vllm",
    explains_schema: true,
    ..Rule::PLAIN
};

pub static PROVIDER_HOST: Rule = Rule {
    id: "llsd::draft::provider-host",
    severity: Severity::Error,
    summary: "A provider has host in place of endpoint, as an earlier proposal had it.",
    why: "The API server knows no such field.",
    example: "providers:\n  inference:\n    - {provider: vllm, host: \"http://vllm:8000/v1\"}",
    explains_schema: true,
    ..Rule::PLAIN
};

pub static FLAT_SECRET: Rule = Rule {
    id: "llsd::draft::flat-secret",
    severity: Severity::Error,
    summary: "A Secret is named without secretKeyRef, as an earlier proposal had it.",
    why: "The API server knows no such fields there.",
    example: "apiKey: {name: openai, key: token}",
    explains_schema: true,
    ..Rule::PLAIN
};

pub static MODEL_STRING: Rule = Rule {
    id: "llsd::draft::model-string",
    severity: Severity::Error,
    summary: "A model is a string, as an earlier proposal had it.",
    why: "The API server expects an object with a name.",
    example: "resources:\n  models: [llama3]",
    explains_schema: true,
    ..Rule::PLAIN
};

pub static EXPOSE_BOOLEAN: Rule = Rule {
    id: "llsd::draft::expose-boolean",
    severity: Severity::Error,
    summary: "expose is true or false, as an earlier proposal had it.",
    why: "The API server expects an object; {} switches it on.",
    example: "networking:\n  expose: true",
    explains_schema: true,
    ..Rule::PLAIN
};

pub static MISPLACED: Rule = Rule {
    id: "llsd::draft::misplaced",
    severity: Severity::Error,
    summary: "A field is where an earlier proposal had it.",
    why: "The API server knows no such field there.",
    example: "networking:\n  tls:\n    configMapName: ca",
    explains_schema: true,
    ..Rule::PLAIN
};

pub(super) static GROUP: Group = Group {
    rules: &[&PROVIDER_OBJECT, &PROVIDER_HOST, &FLAT_SECRET, &MODEL_STRING, &EXPOSE_BOOLEAN, &MISPLACED],
    check: Some(check),
};

fn check(context: &RuleContext<'_>, report: &mut Report) {
    if context.version == ApiVersion::V1Alpha2 {
        let found = check::drafts(context.value()).into_iter();
        report.findings.extend(found.filter(|finding| context.is_known(&finding.path)));
    }
}
