//! Fields that a provider type has no setting for. Source: contract section 3; llama-stack would ignore the key.

use super::super::finding::Severity;
use super::super::subject::{Report, Subject};
use super::RuleInfo;
use crate::generate::GenerateError;

pub(super) const RULES: &[RuleInfo] = &[
    RuleInfo {
        id: "llsd::provider::no-endpoint",
        severity: Severity::Error,
        summary: "The provider type takes no endpoint.",
        why: "llama-stack has no setting for it: whatever was written would be ignored in silence.",
        example: "providers:\n  inference:\n    - provider: anthropic\n      endpoint: https://api.example.com",
    },
    RuleInfo {
        id: "llsd::provider::no-api-key",
        severity: Severity::Error,
        summary: "The provider type takes no API key.",
        why: "llama-stack has no setting for it: the key would never be sent.",
        example: "providers:\n  inference:\n    - provider: ollama\n      apiKey: {secretKeyRef: {name: ollama, key: token}}",
    },
    RuleInfo {
        id: "llsd::provider::bad-endpoint",
        severity: Severity::Error,
        summary: "The endpoint does not have the form that the provider type needs.",
        why: "llama-stack would refuse it, or connect to the wrong place.",
        example: "providers:\n  vectorIo:\n    - provider: pgvector\n      endpoint: postgresql://user:pw@db/vectors",
    },
];

pub(in crate::check) fn check(subject: &Subject<'_>, report: &mut Report) {
    for entry in subject.providers() {
        let Some(Ok(known)) = subject.resolved(entry) else { continue };
        let provider_type = known.provider_type.clone();
        let (endpoint, api_key) = (entry.path.key("endpoint"), entry.path.key("apiKey"));
        if entry.value.get("endpoint").is_some_and(|value| !value.is_null()) {
            match &known.endpoint {
                None => {
                    let hint = known.endpoint_hint.clone();
                    report.add(
                        GenerateError::NoEndpoint { path: endpoint, provider_type: provider_type.clone(), hint }
                            .finding(),
                    );
                }
                Some(target) => {
                    let address = subject.text(&endpoint);
                    if let Some(error) = address.and_then(|address| target.assign(address).err()) {
                        report.add(GenerateError::Endpoint { path: endpoint, error }.finding());
                    }
                }
            }
        }
        if known.api_key.is_none() && entry.value.get("apiKey").is_some_and(|value| !value.is_null()) {
            let hint = known.api_key_hint.clone();
            report.add(GenerateError::NoApiKey { path: api_key, provider_type, hint }.finding());
        }
    }
}
