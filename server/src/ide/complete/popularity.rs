//! What people write most, so that it comes first. Names that are not listed keep their order behind these.

/// Provider types of each API by their short names.
#[rustfmt::skip]
fn provider_types(api: &str) -> &'static [&'static str] {
    match api {
        "inference" => &[
            "vllm", "ollama", "openai", "sentence-transformers", "bedrock", "watsonx", "azure", "anthropic", "gemini",
            "groq", "nvidia", "together", "vertexai", "tgi",
        ],
        "vector_io" => &["milvus", "pgvector", "faiss", "chromadb", "qdrant", "weaviate", "sqlite-vec"],
        "safety" => &["llama-guard", "prompt-guard", "code-scanner"],
        "tool_runtime" => &["model-context-protocol", "rag-runtime", "brave-search", "tavily-search", "file-search"],
        _ => &[],
    }
}

/// Environment variables of the server.
#[rustfmt::skip]
const VARIABLES: &[&str] = &[
    "VLLM_URL", "VLLM_API_TOKEN", "VLLM_TLS_VERIFY", "VLLM_MAX_TOKENS", "INFERENCE_MODEL", "OLLAMA_URL",
    "OPENAI_API_KEY", "MILVUS_URL", "MILVUS_DB_PATH", "PGVECTOR_HOST", "POSTGRES_HOST", "POSTGRES_PORT", "POSTGRES_DB", "POSTGRES_USER",
    "POSTGRES_PASSWORD", "TAVILY_SEARCH_API_KEY", "SAFETY_MODEL",
];

/// APIs that are switched off, those that few need first.
const DISABLED: &[&str] = &["eval", "scoring", "datasetio", "post_training", "batches", "files", "agents", "safety"];

/// Sorts provider types of `api`; `name` is the short one.
pub(super) fn sort_types<T>(api: &str, types: &mut [T], name: impl Fn(&T) -> &str) {
    sort(provider_types(api), types, name);
}

/// Sorts names of environment variables.
pub(super) fn sort_variables(names: &mut [String]) {
    sort(VARIABLES, names, String::as_str);
}

/// Whether people switch the API off.
pub(super) fn is_disabled(api: &str) -> bool {
    DISABLED.contains(&api)
}

/// Sorts names of APIs to disable.
pub(super) fn sort_disabled(names: &mut [String]) {
    sort(DISABLED, names, String::as_str);
}

fn sort<T>(habit: &[&str], items: &mut [T], name: impl Fn(&T) -> &str) {
    items.sort_by_key(|item| habit.iter().position(|known| *known == name(item)).unwrap_or(habit.len()));
}

/// Values that the schema leaves open although they are few: by the last key of the path.
pub(super) fn values(key: &str) -> &'static [&'static str] {
    match key {
        "modelType" => &["llm", "embedding", "rerank"],
        "topologyKey" => &["topology.kubernetes.io/zone", "kubernetes.io/hostname", "topology.kubernetes.io/region"],
        "whenUnsatisfiable" => &["ScheduleAnyway", "DoNotSchedule"],
        "imagePullPolicy" => &["IfNotPresent", "Always", "Never"],
        _ => &[],
    }
}
