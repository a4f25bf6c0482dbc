//! What has another name, place or form in another version: the one table of it.
//!
//! Each entry has an older and a newer side. Which of them a version reads, its catalog and schema say, so that the table
//! serves both directions and needs no versions. Source: the catalogs and schemas of `configs/` side by side, the configs
//! that the packages ship, and their release notes.

/// APIs: the older and the newer name.
const APIS: &[(&str, &str)] = &[("agents", "responses")];

/// Provider types: the API by its newer name, the older and the newer type.
const TYPES: &[(&str, &str, &str)] = &[
    ("responses", "inline::meta-reference", "inline::builtin"),
    ("eval", "inline::meta-reference", "inline::builtin"),
    ("tool_runtime", "inline::rag-runtime", "inline::file-search"),
    ("vector_io", "inline::sqlite_vec", "inline::sqlite-vec"),
    ("vector_io", "inline::meta-reference", "inline::faiss"),
    ("vector_io", "inline::builtin", "inline::faiss"),
    ("inference", "inline::transformers", "inline::sentence-transformers"),
];

/// Keys of providers: API, type (empty: every type of the API), and the older and the newer place in the config.
pub(super) const KEYS: &[(&str, &str, &str, &str)] = &[
    ("inference", "remote::azure", "api_base", "base_url"),
    ("inference", "remote::llama-openai-compat", "openai_compat_api_base", "base_url"),
    ("inference", "", "url", "base_url"),
    ("inference", "remote::bedrock", "api_key", "aws_bedrock_bearer_token"),
    ("inference", "remote::vertexai", "auth_credential", "access_token"),
    ("inference", "", "tls_verify", "network.tls.verify"),
    ("batches", "inline::reference", "kvstore", "sqlstore"),
];

/// Sections: the older and the newer place.
pub(super) const SECTIONS: &[(&str, &str)] =
    &[("image_name", "distro_name"), ("registered_resources.connectors", "connectors")];

/// Addresses of hosted services that an older version completed by itself: provider type, and the address as older and
/// newer versions take it.
const ADDRESSES: &[(&str, &str, &str)] = &[
    ("remote::groq", "https://api.groq.com", "https://api.groq.com/openai/v1"),
    ("remote::cerebras", "https://api.cerebras.ai", "https://api.cerebras.ai/v1"),
];

/// Parts of texts that a version insists on: place, and the part as older and newer versions have it.
pub(super) const WORDS: &[(&str, &str, &str)] = &[
    ("vector_stores.file_search_params.header_template", "knowledge_search", "file_search"),
    ("vector_stores.file_search_params.footer_template", "knowledge_search", "file_search"),
];

/// Why something has no successor, and what to do: an API, a provider type or a place of the config. A place stands for
/// all below it.
const REASONS: &[(&str, &str)] = &[
    ("telemetry", "OTEL_ variables of the pod switch traces and metrics on"),
    ("post_training", "no version from 0.7 on trains models"),
    ("safety", "responses.config.moderation_endpoint names a moderation service in its place"),
    ("shields", "responses.config.moderation_endpoint names a moderation service in their place"),
    ("registered_resources.shields", "responses.config.moderation_endpoint names a moderation service in their place"),
    ("eval", "evaluate from outside, with a client of the API"),
    ("scoring", "evaluate from outside, with a client of the API"),
    ("datasetio", "evaluate from outside, with a client of the API"),
    ("registered_resources.benchmarks", "evaluate from outside, with a client of the API"),
    ("registered_resources.datasets", "evaluate from outside, with a client of the API"),
    ("registered_resources.scoring_fns", "evaluate from outside, with a client of the API"),
    ("inline::meta-reference", "serve the model with vLLM, and name that as remote::vllm"),
    ("remote::tgi", "its address ends in /v1 and is one of OpenAI's kind: remote::openai or remote::vllm may read it"),
    ("remote::hf::endpoint", "remote::openai may read its address, which is one of OpenAI's kind"),
    ("remote::hf::serverless", "remote::openai may read its address, which is one of OpenAI's kind"),
    ("server.quota", "limit requests in front of the server"),
    ("server.cors", "answer requests of other origins in front of the server"),
];

/// Places whose absence changes nothing, with what holds without them.
pub(super) const WITHOUT_EFFECT: &[(&str, &str)] = &[
    ("server.insecure", "the version serves plain HTTP unless there are certificates"),
    ("server.tenancy.mode", "the version knows one tenant"),
    ("telemetry.enabled", "OTEL_ variables of the pod switch traces and metrics on"),
];

/// The other names of an API, whichever side this one is on.
pub(super) fn apis(name: &str) -> impl Iterator<Item = &'static str> {
    APIS.iter().filter_map(move |(old, new)| match name {
        _ if *old == name => Some(*new),
        _ if *new == name => Some(*old),
        _ => None,
    })
}

/// The other types that stand for a provider type of an API, newer ones first.
pub(super) fn types(api: &str, kind: &str) -> impl Iterator<Item = &'static str> {
    let is_of = move |of: &str| of == api || APIS.iter().any(|(old, new)| *old == api && *new == of);
    let newer = TYPES.iter().filter(move |(of, old, _)| is_of(of) && *old == kind).map(|(.., new)| *new);
    let older = TYPES.iter().filter(move |(of, _, new)| is_of(of) && *new == kind).map(|(_, old, _)| *old);
    newer.chain(older)
}

/// The address that a version takes in place of this one of a hosted service.
pub(super) fn address(kind: &str, is_newer: bool, written: &str) -> Option<&'static str> {
    ADDRESSES.iter().filter(|(of, ..)| *of == kind).find_map(|(_, old, new)| match is_newer {
        true => (written.trim_end_matches('/') == *old).then_some(*new),
        false => (written.trim_end_matches('/') == *new).then_some(*old),
    })
}

/// Why an API, a type or a place has no successor.
pub(super) fn reason(what: &str) -> Option<&'static str> {
    let is_of =
        |name: &str| what.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']));
    REASONS.iter().find(|(name, _)| is_of(name)).map(|(_, reason)| *reason)
}
