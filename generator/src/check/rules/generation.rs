//! What stands in the way of a config, and what generation warns of. Source: contract section 3, and what llama-stack
//! does with the configs that would come out otherwise.

use super::super::finding::Severity;
use super::RuleInfo;

pub(super) const RULES: &[RuleInfo] = &[
    RuleInfo {
        id: "llsd::config::overridden",
        severity: Severity::Information,
        summary: "Nothing is generated, because the resource brings its own config.",
        why: "overrideConfig names a ConfigMap, and the server runs with exactly what that holds.",
        example: "overrideConfig: {configMapName: my-config}",
    },
    RuleInfo {
        id: "llsd::provider::missing-setting",
        severity: Severity::Error,
        summary: "The provider type does not start without a setting that is not given.",
        why: "llama-stack exits with an error about the missing key.",
        example: "providers:\n  inference:\n    - provider: vertexai   # without settings.project",
    },
    RuleInfo {
        id: "llsd::provider::missing-api",
        severity: Severity::Error,
        summary: "A provider requires an API that the distribution does not serve.",
        why: "llama-stack does not start when a provider's dependency is missing.",
        example: "providers:\n  toolRuntime:\n    - provider: rag-runtime   # requires files",
    },
    RuleInfo {
        id: "llsd::provider::unchecked",
        severity: Severity::Warning,
        summary: "There is no catalog for the distribution's llama-stack version.",
        why: "Types, settings and the keys for endpoint and apiKey are then conventions, not knowledge.",
        example: "distribution:\n  image: quay.io/example/llama-stack:latest",
    },
    RuleInfo {
        id: "llsd::disabled::required",
        severity: Severity::Error,
        summary: "An API is disabled that a remaining provider requires.",
        why: "llama-stack does not start when a provider's dependency is missing.",
        example: "disabled:\n  - vector_io   # agents require it",
    },
    RuleInfo {
        id: "llsd::disabled::has-providers",
        severity: Severity::Error,
        summary: "An API is both disabled and given providers.",
        why: "The two contradict each other.",
        example: "disabled: [inference]\nproviders:\n  inference:\n    - provider: vllm",
    },
    RuleInfo {
        id: "llsd::resources::no-provider",
        severity: Severity::Error,
        summary: "A model, tool or shield has no provider that could serve it.",
        why: "llama-stack registers resources with providers only.",
        example: "disabled: [safety]\nresources:\n  shields: [llama-guard]",
    },
    RuleInfo {
        id: "llsd::model::no-dimension",
        severity: Severity::Error,
        summary: "An embedding model is registered that the distribution's config does not know.",
        why: "llama-stack registers embedding models with their dimension only, and exits without it.",
        example: "resources:\n  models:\n    - {name: my-embedder, modelType: embedding}",
    },
    RuleInfo {
        id: "llsd::tool::no-address",
        severity: Severity::Error,
        summary: "A tool group of an MCP server is registered, for whose address the resource has no field.",
        why: "llama-stack asks the MCP server for its tools when it registers the group, and exits without an address.",
        example: "resources:\n  tools: [\"mcp::files\"]",
    },
    RuleInfo {
        id: "llsd::tool::other-provider",
        severity: Severity::Warning,
        summary: "A tool group is registered with the resource's first toolRuntime provider, not with the usual one.",
        why: "A web search cannot serve documents: calls of the tool would go to the wrong provider.",
        example: "providers:\n  toolRuntime:\n    - provider: brave-search\nresources:\n  tools: [rag]",
    },
    RuleInfo {
        id: "llsd::storage::bad-endpoint",
        severity: Severity::Error,
        summary: "The endpoint of the Redis store is not host:port.",
        why: "llama-stack takes a host and a port; user, password, path and TLS have no setting.",
        example: "storage:\n  kv: {type: redis, endpoint: \"rediss://cache\"}",
    },
    RuleInfo {
        id: "llsd::distribution::no-base-config",
        severity: Severity::Error,
        summary: "There is no config to start from for an image.",
        why: "Providers are laid over the config of the distribution. An image carries its own in OCI labels, or \
              overrideConfig replaces all of it.",
        example: "distribution:\n  image: quay.io/example/llama-stack:0.4.7",
    },
    RuleInfo {
        id: "llsd::distribution::unusable-base-config",
        severity: Severity::Error,
        summary: "The config of the distribution is broken, or of an unsupported version.",
        why: "Versions 1 and 2 of config.yaml are supported.",
        example: "version: 3",
    },
];
