//! APIs that are both disabled and given providers. The CRD says so too; this rule knows which entry to remove.

use super::super::context::{Report, RuleContext};
use super::super::finding::{Finding, Severity};
use super::super::rule::{Group, Rule};
use crate::api::CrdRule::Enabled;
use crate::api::v1alpha2::{api_field, api_name};
use crate::generate::GenerateError;

pub static HAS_PROVIDERS: Rule = Rule {
    id: "llsd::disabled::has-providers",
    severity: Severity::Error,
    summary: "An API is both disabled and given providers.",
    why: "The two contradict each other.",
    example: "disabled: [inference]\nproviders:\n  inference:\n    - provider: vllm",
    refines: &[
        Enabled("inference"),
        Enabled("safety"),
        Enabled("vector_io"),
        Enabled("vectorIo"),
        Enabled("tool_runtime"),
        Enabled("toolRuntime"),
        Enabled("telemetry"),
    ],
    ..Rule::PLAIN
};

pub(super) static GROUP: Group = Group { rules: &[&HAS_PROVIDERS], check: Some(check) };

pub(in crate::check) fn check(context: &RuleContext<'_>, report: &mut Report) {
    let providers = context.providers();
    for (path, _) in context.items(&RuleContext::spec("disabled")) {
        let Some(written) = context.text(&path).map(str::to_owned) else { continue };
        let api = api_name(&written);
        let Some(entry) = providers.iter().find(|entry| entry.api == api) else { continue };
        let field = api_field(&api);
        let mut finding = Finding::from(GenerateError::DisabledConflict { path: path.clone(), api, field, written });
        // where the CRD's rule has it, so that it stays there when a fault elsewhere keeps that rule from running
        finding.path = entry.path.parent().unwrap_or_default();
        report.add(finding.with_related(path, "The API is disabled here"));
    }
}
