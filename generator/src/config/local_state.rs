//! What a config keeps in files of the pod that only one process may write.

use super::environment::default_of;
use crate::path::{Path, Segment};
use serde_json::Value;
use std::collections::BTreeSet;

/// Vector databases that run inside the server. Those of one process: a second pod finds the file locked, or has another
/// one.
const VECTOR_DATABASES: [&str; 5] =
    ["inline::sqlite-vec", "inline::sqlite_vec", "inline::milvus", "inline::chromadb", "inline::qdrant"];

/// The places that tell of such files: backends of the storage first, then stores of providers and of older configs, and
/// vector databases. `unknown`: places that a template fills in.
pub(crate) fn places(config: &Value, unknown: &BTreeSet<Path>) -> Vec<Path> {
    let mut found = Vec::new();
    walk(config, &mut Path::root(), &mut found);
    found.retain(|place| !unknown.iter().any(|one| place.starts_with(one)));
    let backends = Path::parse("storage.backends");
    found.sort_by_key(|place| !place.starts_with(&backends));
    found
}

/// What to use in place of the file at a place.
pub(crate) fn instead(place: &Path) -> &'static str {
    match place.last() {
        Some(Segment::Key(key)) if key == "provider_type" => "a vector database of its own, such as remote::pgvector",
        _ => "postgres or redis",
    }
}

/// As deep as plain values are.
fn walk(value: &Value, path: &mut Path, found: &mut Vec<Path>) {
    match value {
        Value::Object(entries) => {
            let text = |key: &str| entries.get(key).and_then(Value::as_str);
            if text("type").is_some_and(is_sqlite) {
                found.push(path.key("type"));
            }
            // One that a variable switches on may be off.
            let is_on =
                text("provider_id").is_some_and(|id| !id.is_empty() && !id.contains("${") && id != "__disabled__");
            if is_on && text("provider_type").is_some_and(|kind| VECTOR_DATABASES.contains(&kind)) {
                found.push(path.key("provider_type"));
            }
            for (name, value) in entries {
                path.push(Segment::Key(name.clone()));
                walk(value, path, found);
                path.pop();
            }
        }
        Value::Array(items) => {
            for (position, item) in items.iter().enumerate() {
                path.push(Segment::Index(position));
                walk(item, path, found);
                path.pop();
            }
        }
        _ => {}
    }
}

/// `sqlite` is what stores of llama-stack before 0.3 are called.
fn is_sqlite(kind: &str) -> bool {
    let kind =
        default_of(kind).and_then(|(_, value)| value.as_str().map(str::to_owned)).unwrap_or_else(|| kind.to_owned());
    kind == "sqlite" || kind.ends_with("_sqlite")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn finds_what_lies_in_files() {
        let config = json!({
            "metadata_store": {"type": "sqlite", "db_path": "/a.db"},
            "providers": {"vector_io": [
                {"provider_id": "a", "provider_type": "inline::milvus"},
                {"provider_id": "${env.B:+b}", "provider_type": "inline::milvus"},
                {"provider_id": "c", "provider_type": "remote::milvus"},
            ]},
            "storage": {"backends": {
                "kv": {"type": "${env.KV:=kv_sqlite}"},
                "sql": {"type": "sql_postgres"},
            }},
        });
        let found: Vec<String> = places(&config, &BTreeSet::new()).iter().map(ToString::to_string).collect();
        assert_eq!(found, ["storage.backends.kv.type", "metadata_store.type", "providers.vector_io[0].provider_type"]);
    }
}
