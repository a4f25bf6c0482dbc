//! Fields that a provider type has no setting for. Source: the catalogs; llama-stack would ignore the key.

use super::super::context::{Report, RuleContext};
use super::super::finding::{Finding, Severity};
use super::super::rule::{Group, Rule};
use crate::generate::GenerateError;

pub static NO_ENDPOINT: Rule = Rule {
    id: "llsd::provider::no-endpoint",
    severity: Severity::Error,
    summary: "The provider type takes no endpoint.",
    why: "llama-stack has no setting for it: whatever was written would be ignored in silence.",
    example: "providers:\n  inference:\n    - provider: anthropic\n      endpoint: https://api.example.com",
    ..Rule::PLAIN
};

pub static NO_API_KEY: Rule = Rule {
    id: "llsd::provider::no-api-key",
    severity: Severity::Error,
    summary: "The provider type takes no API key.",
    why: "llama-stack has no setting for it: the key would never be sent.",
    example: "providers:\n  inference:\n    - provider: ollama\n      apiKey: {secretKeyRef: {name: ollama, key: token}}",
    ..Rule::PLAIN
};

pub static BAD_ENDPOINT: Rule = Rule {
    id: "llsd::provider::bad-endpoint",
    severity: Severity::Error,
    summary: "The endpoint does not have the form that the provider type needs.",
    why: "llama-stack would refuse it, or connect to the wrong place.",
    example: "providers:\n  vectorIo:\n    - provider: pgvector\n      endpoint: postgresql://user:pw@db/vectors",
    ..Rule::PLAIN
};

pub(super) static GROUP: Group = Group { rules: &[&NO_ENDPOINT, &NO_API_KEY, &BAD_ENDPOINT], check: Some(check) };

pub(in crate::check) fn check(context: &RuleContext<'_>, report: &mut Report) {
    for entry in context.providers() {
        let Some(Ok(known)) = context.resolved(entry) else { continue };
        let provider_type = known.provider_type.clone();
        let (endpoint, api_key) = (entry.path.key("endpoint"), entry.path.key("apiKey"));
        if entry.value.get("endpoint").is_some_and(|value| !value.is_null()) {
            match &known.endpoint {
                None => {
                    let hint = known.endpoint_hint.clone();
                    report.add(Finding::from(GenerateError::NoEndpoint {
                        path: endpoint,
                        provider_type: provider_type.clone(),
                        hint,
                    }));
                }
                Some(target) => {
                    let address = context.text(&endpoint);
                    if let Some(error) = address.and_then(|address| target.assign(address).err()) {
                        report.add(Finding::from(GenerateError::Endpoint { path: endpoint, error }));
                    }
                }
            }
        }
        if known.api_key.is_none() && entry.value.get("apiKey").is_some_and(|value| !value.is_null()) {
            let hint = known.api_key_hint.clone();
            report.add(Finding::from(GenerateError::NoApiKey { path: api_key, provider_type, hint }));
        }
    }
}
