//! The form in which a provider works with the upstream operator and with the server: `custom`, with the type that ogx
//! has and the settings that it asks for. Source: the operator's generator beside the real server, which refuses nine of
//! the eighteen configs that upstream's own cases expect.

use super::generate::typed_config;
use super::providers::{CUSTOM, Entry};
use crate::path::Path;
use serde_json::{Map, Value, json};

/// The store of tables, and the one of keys, that `spec.storage` and the shipped base configs have.
const SQL: &str = "sql_default";
const KV: &str = "kv_default";

/// A typed provider as an item of `custom` on its side; `None` for one that is custom already.
pub(super) fn of(entry: &Entry<'_>) -> Option<Value> {
    if entry.field == CUSTOM {
        return None;
    }
    let (mut settings, mut secrets) = typed_config(entry);
    let provider_type = corrected(entry);
    let id = entry.id();
    if provider_type == "remote::bedrock"
        && let Some(token) = secrets.shift_remove("api_key")
    {
        secrets.insert("aws_bedrock_bearer_token".to_owned(), token);
    }
    if let Some(proxy) = settings.get_mut("network").and_then(|network| network.get_mut("proxy"))
        && let Some(file) = proxy.as_object_mut().and_then(|proxy| proxy.shift_remove("ca_cert"))
    {
        proxy["cacert"] = file;
    }
    if let Some(index) = settings.get_mut("vector_index") {
        *index = discriminated(index);
    }
    for (key, value) in needed(&provider_type, &id) {
        settings.entry(key).or_insert(value);
    }
    let mut item = Map::new();
    item.insert("id".to_owned(), id.into());
    item.insert("type".to_owned(), provider_type.into());
    if !secrets.is_empty() {
        item.insert("secretRefs".to_owned(), secrets.into());
    }
    if !settings.is_empty() {
        item.insert("settings".to_owned(), settings.into());
    }
    Some(item.into())
}

/// The type that ogx has for what the operator's typed field means.
fn corrected(entry: &Entry<'_>) -> String {
    match entry.field {
        "fileSearch" => "inline::file-search".to_owned(),
        "reference" => "inline::reference".to_owned(),
        "builtin" => "inline::builtin".to_owned(),
        _ => entry.provider_type(),
    }
}

/// Settings without which ogx does not start a provider of the type.
pub(super) fn needed(provider_type: &str, id: &str) -> Vec<(String, Value)> {
    let files = || json!({"table_name": "files_metadata", "backend": SQL});
    let entry = |key: &str, value: Value| (key.to_owned(), value);
    match provider_type {
        "inline::localfs" => {
            vec![entry("storage_dir", json!("${env.FILES_STORAGE_DIR:=/.ogx/files}")), entry("metadata_store", files())]
        }
        "remote::s3" => vec![entry("metadata_store", files())],
        "inline::reference" => vec![entry("sqlstore", json!({"table_name": "batches", "backend": SQL}))],
        "inline::builtin" => {
            vec![entry("persistence", json!({"responses": {"table_name": "responses", "backend": SQL}}))]
        }
        "remote::pgvector" | "remote::milvus" | "remote::qdrant" | "remote::weaviate" | "remote::chromadb"
        | "inline::faiss" | "inline::sqlite-vec" | "inline::milvus" | "inline::qdrant" | "inline::chromadb" => {
            vec![entry("persistence", json!({"namespace": format!("vector_io::{id}"), "backend": KV}))]
        }
        _ => Vec::new(),
    }
}

/// `{hnsw: {m: 16}}` as `{type: HNSW, m: 16}`.
fn discriminated(index: &Value) -> Value {
    let (kind, fields) = match (index.get("hnsw"), index.get("ivf_flat")) {
        (Some(fields), _) => ("HNSW", fields),
        (None, Some(fields)) => ("IVFFlat", fields),
        (None, None) => return index.clone(),
    };
    let mut all = Map::new();
    all.insert("type".to_owned(), kind.into());
    all.extend(fields.as_object().cloned().unwrap_or_default());
    all.into()
}

/// The items of the `custom` list beside a provider, and the place of that list.
pub(super) fn list_beside(entry: &Entry<'_>) -> Path {
    Path::parse("spec.providers").key(entry.api.field).key(entry.side).key(CUSTOM)
}
