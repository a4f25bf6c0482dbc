//! Providers of models. Source: llama-stack, which exits on a model whose provider is not in the config.

use super::super::context::{Report, RuleContext};
use super::super::finding::{Finding, Severity};
use super::super::rule::{Group, Rule};
use crate::generate::{GenerateError, of_api, plain_id};
use serde_json::Value;

pub static UNKNOWN_PROVIDER: Rule = Rule {
    id: "llsd::model::unknown-provider",
    severity: Severity::Error,
    summary: "A model names a provider that neither the resource nor the distribution has.",
    why: "llama-stack does not start with a model whose provider does not exist.",
    example: "resources:\n  models:\n    - name: llama3\n      provider: vlm",
    ..Rule::PLAIN
};

pub static CONDITIONAL_PROVIDER: Rule = Rule {
    id: "llsd::model::conditional-provider",
    severity: Severity::Warning,
    summary: "A model names a provider of the distribution that exists only when a variable is set.",
    why: "Without the variable llama-stack finds no such provider, and does not start.",
    example: "resources:\n  models:\n    - name: llama3\n      provider: ollama",
    ..Rule::PLAIN
};

pub(super) static GROUP: Group = Group { rules: &[&UNKNOWN_PROVIDER, &CONDITIONAL_PROVIDER], check: Some(check) };

pub(in crate::check) fn check(context: &RuleContext<'_>, report: &mut Report) {
    let providers = RuleContext::spec("providers.inference");
    let external = RuleContext::spec("externalProviders.inference");
    let mut ids: Vec<String> = Vec::new();
    let mut complete = context.is_complete(&providers) && context.is_complete(&external);
    for entry in context.providers().iter().filter(|entry| entry.api == "inference") {
        match entry.id {
            Some(id) => ids.push(id.to_owned()),
            None => complete = false,
        }
    }
    let external = context.items(&external).filter_map(|(_, item)| item.get("providerId")?.as_str());
    let external: Vec<String> = external.map(str::to_owned).collect();
    let base = context.base();
    if let Some(base) = &base {
        for (id, _) in of_api(base, "inference") {
            if !ids.iter().any(|other| other == plain_id(id)) {
                ids.push(plain_id(id).to_owned());
            }
        }
    }
    ids.extend(external);
    for (path, model) in context.items(&RuleContext::spec("resources.models")) {
        let at = path.key("provider");
        let Some(provider) = context.text(&at).filter(|id| !ids.iter().any(|other| other == id)) else { continue };
        if base.is_none() || !complete {
            report.not_checked(&UNKNOWN_PROVIDER, &at, "the providers of the distribution are not known");
            continue;
        }
        let model = model.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        let provider = provider.to_owned();
        report.add(Finding::from(GenerateError::UnknownModelProvider { path: at, model, provider, ids: ids.clone() }));
    }
}
