//! What the keys of a config's sections mean, in words. The schemas of the server carry none.
//!
//! Source: the behaviour of llama-stack 0.3.5 to 0.7.3 and ogx 1.0.4 to 1.5.0, tried with the real servers.

use crate::path::{Path, Segment};

/// Keys in the order in which people write them; the schemas sort them by name. Others follow.
#[rustfmt::skip]
const WRITTEN: &[&str] = &[
    "version", "image_name", "distro_name", "apis", "providers", "storage", "registered_resources", "vector_stores",
    "safety", "server", "logging", "telemetry", "connectors", "provider_id", "provider_type", "config", "module",
    "type", "backends", "stores", "metadata", "inference", "conversations", "responses", "prompts", "namespace",
    "table_name", "backend", "models", "shields", "tool_groups", "model_id", "shield_id", "toolgroup_id",
    "vector_store_id", "provider_model_id", "provider_shield_id", "model_type", "mcp_endpoint", "host", "port",
    "db", "user", "password", "db_path", "base_url", "url", "api_token", "api_key",
];

/// The place of a key in the order in which people write them.
pub(super) fn order(name: &str) -> usize {
    WRITTEN.iter().position(|known| *known == name).unwrap_or(WRITTEN.len())
}

/// What a key of the mapping at `path` means; empty where its name says all.
pub(super) fn about(path: &Path, name: &str) -> &'static str {
    let section = match path.segments().first() {
        Some(Segment::Key(section)) => section.as_str(),
        _ => "",
    };
    let depth = path.segments().len();
    match (section, depth, name) {
        ("", _, name) => top(name),
        ("providers", 2.., name) => provider(name),
        ("storage", _, name) => storage(name),
        ("registered_resources", 1, name) => registered(name),
        ("registered_resources" | "models" | "shields" | "tool_groups", _, name) => resource(name),
        ("server", 1, name) => server(name),
        ("server", _, name) => access(name),
        ("vector_stores", _, name) => vector_stores(name),
        ("safety", _, "default_shield_id") => "The shield that requests use which name none.",
        ("logging", _, "category_levels") => {
            "Levels by category, such as `server: debug`; `all` stands for every category."
        }
        _ => "",
    }
}

fn top(name: &str) -> &'static str {
    match name {
        "version" => "The version of the format: 2.",
        "image_name" => "The name of the distribution. Versions from 0.5 on call it `distro_name`, and read both.",
        "distro_name" => "The name of the distribution; before 0.5 it is called `image_name`.",
        "apis" => {
            "The APIs that are served. Without the list, all that have providers. An API that is listed needs a provider."
        }
        "providers" => "The providers of each API, in a list below the name of the API.",
        "storage" => "Where the server keeps its state: backends, and which store uses which of them.",
        "registered_resources" => {
            "Models, shields and the like that are registered when the server starts. What is removed here stays registered in the store."
        }
        "vector_stores" => "Defaults of vector stores that requests make.",
        "safety" => "Defaults of the safety API.",
        "server" => "Port, TLS, authentication and the like.",
        "logging" => "How much is logged.",
        "external_providers_dir" => {
            "A folder with definitions of providers of your own. It has to be in the image or mounted."
        }
        "external_apis_dir" => "A folder with definitions of APIs of your own.",
        "container_image" => "Not read by the server.",
        "connectors" => "Connections to tools that requests may name.",
        "telemetry" => "Whether traces and metrics are sent, to where the OTEL_ variables say.",
        _ => "",
    }
}

fn provider(name: &str) -> &'static str {
    match name {
        "provider_id" => {
            "The name by which the config refers to the provider, unique within its API. `${env.X:+id}` switches it on where X is set."
        }
        "provider_type" => "What it is: `remote::` for a service elsewhere, `inline::` for one inside the server.",
        "config" => "The settings of the provider's type. The server ignores those that the type does not have.",
        "module" => "The Python module of a provider of your own, with its version.",
        _ => "",
    }
}

fn storage(name: &str) -> &'static str {
    match name {
        "backends" => "Databases by name: `kv_…` types hold keys and values, `sql_…` types hold tables.",
        "stores" => "Which backend each kind of state is kept in.",
        "metadata" => "What is registered. On a backend of a `kv_` type.",
        "inference" => "Stored completions. On a backend of a `sql_` type.",
        "conversations" => "Conversations. On a backend of a `sql_` type.",
        "responses" => "Stored responses. On a backend of a `sql_` type.",
        "prompts" => "Prompts. On a backend of a `kv_` type in llama-stack, of a `sql_` type in ogx.",
        "backend" => "The name of a backend of `storage.backends`.",
        "namespace" => "A prefix of all keys in the backend. SQLite ignores it.",
        "table_name" => "The table in the backend.",
        "type" => "What kind of database it is.",
        "db_path" => "The file of the database. Each backend needs its own, on a volume if it has to outlive the pod.",
        "host" => "The host of the database.",
        "port" => "The port of the database.",
        "db" => "The name of the database.",
        "user" => "The user that logs in.",
        "password" => {
            "The password: take it from a variable. `sql_postgres` puts it into a URL, so that `@`, `/` and `:` have to be percent-encoded."
        }
        "num_writers" => "How many tasks write to the store.",
        "max_write_queue_size" => "How many writes may wait.",
        _ => "",
    }
}

fn registered(name: &str) -> &'static str {
    match name {
        "models" => "Models that are registered at start. Clients call them `provider_id/provider_model_id`.",
        "shields" => "Shields, each served by a provider of the safety API.",
        "tool_groups" => "Groups of tools, each served by a provider of the tool runtime. ogx ignores them.",
        "vector_stores" => "Vector stores, each served by a provider of vector_io.",
        "datasets" => "Data sets, each served by a provider of datasetio.",
        "scoring_fns" => "Scoring functions, each served by a provider of scoring.",
        "benchmarks" => "Benchmarks, each served by a provider of eval.",
        _ => "",
    }
}

fn resource(name: &str) -> &'static str {
    match name {
        "model_id" => "A name for the model. Clients see `provider_id/provider_model_id`, not this.",
        "provider_id" => {
            "The provider that serves it. Without it the entry is skipped in silence; a tool group is refused."
        }
        "provider_model_id" => "The name of the model at the provider; without it, `model_id`.",
        "provider_shield_id" => "The name of the shield at the provider.",
        "model_type" => "What the model is for; without it, `llm`.",
        "metadata" => "Facts about the model. An embedding model needs `embedding_dimension`.",
        "shield_id" => "The name of the shield.",
        "toolgroup_id" => "The name of the group, such as `builtin::websearch` or `mcp::files`.",
        "mcp_endpoint" => "Where the MCP server of the group is.",
        "args" => "Arguments that are handed to the provider.",
        "params" => "Parameters of the shield.",
        _ => "",
    }
}

fn server(name: &str) -> &'static str {
    match name {
        "port" => {
            "1024 to 65535. llama-stack ignores it: the command line or LLAMA_STACK_PORT decides, which the operator sets. ogx from 1.1 on reads it where neither is given."
        }
        "host" => "The address that the server listens on.",
        "tls_certfile" => "The file of the certificate; needs `tls_keyfile` beside it.",
        "tls_keyfile" => "The file of the key; needs `tls_certfile` beside it.",
        "tls_cafile" => "The file of the authorities that sign certificates of clients.",
        "insecure" => "Whether ogx from 1.2 on may serve without TLS, which it refuses otherwise.",
        "auth" => "Who may use the server: where tokens are checked, and what their owners may do.",
        "quota" => "How many requests a client may send.",
        "cors" => "Which web pages may use the server.",
        "workers" => "How many processes serve.",
        "registry_refresh_interval_seconds" => "How often the models of providers are listed anew; 300 without it.",
        _ => "",
    }
}

fn access(name: &str) -> &'static str {
    match name {
        "provider_config" => "Where tokens are checked.",
        "access_policy" => "Rules in their order; the first that fits decides, and what none permits is refused.",
        "route_policy" => "Rules about paths; the first that fits decides.",
        "permit" => "What the rule allows.",
        "forbid" => "What the rule refuses.",
        "when" => "A condition, such as `user with admin in roles` or `user is owner`.",
        "unless" => "A condition under which the rule does not hold.",
        "actions" => "What is done: create, read, update, delete.",
        "principal" => "Whose requests; without it, everybody's.",
        "resource" => "What it is done to, as `type::id`, such as `model::*` or `model::vllm/llama`.",
        "claims_mapping" => "Which claim of the token fills which attribute of the user.",
        _ => "",
    }
}

fn vector_stores(name: &str) -> &'static str {
    match name {
        "default_provider_id" => "The provider of vector_io that requests use which name none.",
        "default_embedding_model" => {
            "The embedding model that requests use which name none. It has to be registered or listed by its provider."
        }
        "default_reranker_model" => "The model that ranks results anew.",
        "provider_id" => "The provider of inference that serves the model.",
        "model_id" => "The name of the model at that provider.",
        _ => "",
    }
}

/// What an API is for.
pub(super) fn api(name: &str) -> &'static str {
    match name {
        "inference" => "Chat, completions, embeddings.",
        "safety" => "Shields that look at what goes in and out.",
        "agents" | "responses" => "Responses with tools over several turns.",
        "vector_io" => "Vector databases.",
        "files" => "Uploaded files.",
        "tool_runtime" => "Tools: search, MCP servers.",
        "eval" => "Evaluation of models.",
        "scoring" => "Scoring functions.",
        "datasetio" => "Data sets.",
        "batches" => "Many requests at once.",
        "telemetry" => "Traces and metrics; an API before 0.4 only.",
        "post_training" => "Fine-tuning.",
        "file_processors" => "Text out of files.",
        _ => "",
    }
}
