//! The section `storage` of a generated config: backends, and the stores that use them.

use super::map;
use super::secrets::{Secrets, reference};
use crate::generate::{Map, Origin, Tracked};
use crate::path::Path;
use serde_json::Value;

/// The whole section, which takes the place of the base's; `None` where the resource gives none.
pub(super) fn section(object: &Value, secrets: &mut Secrets) -> Option<Tracked> {
    let storage = object["spec"].get("storage").filter(|storage| !storage.is_null())?;
    let at = Path::parse("spec.storage");
    let mut backends = Map::new();
    backends.insert("kv_default".to_owned(), kv(&storage["kv"], &at, secrets));
    backends.insert("sql_default".to_owned(), sql(&storage["sql"], &at, secrets));
    let mut section = Map::new();
    section.insert("backends".to_owned(), map(Origin::Resource(at.clone()), backends));
    section.insert("stores".to_owned(), map(Origin::Resource(at.clone()), stores()));
    Some(map(Origin::Resource(at), section))
}

/// Where the backend is given, else the section: a backend that is not given is a file.
fn place(backend: &Value, at: &Path, field: &str) -> Path {
    if backend.is_null() { at.clone() } else { at.key(field) }
}

fn kv(backend: &Value, at: &Path, secrets: &mut Secrets) -> Tracked {
    let at = place(backend, at, "kv");
    let mut entry = Map::new();
    let mut add = |key: &str, path: Path, text: &str| {
        entry.insert(key.to_owned(), Tracked::text(Origin::Resource(path), text));
    };
    if backend["type"] == "redis" {
        add("type", at.key("type"), "kv_redis");
        add("host", at.key("endpoint"), backend["endpoint"].as_str().unwrap_or_default());
        if backend["password"].is_object() {
            let path = at.key("password");
            let variable = secrets.add("OGX_STORAGE_KV_PASSWORD".to_owned(), &backend["password"], &path);
            add("password", path, &variable);
        }
    } else {
        add("type", at.clone(), "kv_sqlite");
        add("db_path", at.clone(), &file("kvstore.db"));
    }
    map(Origin::Resource(at), entry)
}

fn sql(backend: &Value, at: &Path, secrets: &mut Secrets) -> Tracked {
    let at = place(backend, at, "sql");
    let mut entry = Map::new();
    let mut add = |key: &str, path: Path, text: &str| {
        entry.insert(key.to_owned(), Tracked::text(Origin::Resource(path), text));
    };
    if backend["type"] == "postgres" {
        add("type", at.key("type"), "sql_postgres");
        let path = at.key("connectionString");
        let name = "OGX_STORAGE_SQL_CONNECTION_STRING".to_owned();
        let variable = secrets.add(name, &backend["connectionString"], &path);
        add("connection_string", path, &variable);
    } else {
        add("type", at.clone(), "sql_sqlite");
        add("db_path", at.clone(), &file("sqlstore.db"));
    }
    map(Origin::Resource(at), entry)
}

/// A file on the volume.
fn file(name: &str) -> String {
    format!("{}/{name}", reference("SQLITE_STORE_DIR:=/.ogx"))
}

/// Which store uses which backend.
fn stores() -> Map {
    let origin = Origin::Rule("the stores of a given storage");
    let store = |key: &str, name: &str, backend: &str| {
        let mut entry = Map::new();
        entry.insert(key.to_owned(), Tracked::text(origin.clone(), name));
        entry.insert("backend".to_owned(), Tracked::text(origin.clone(), backend));
        map(origin.clone(), entry)
    };
    let all = [
        ("metadata", store("namespace", "registry", "kv_default")),
        ("inference", store("table_name", "inference_store", "sql_default")),
        ("conversations", store("table_name", "openai_conversations", "sql_default")),
        ("prompts", store("namespace", "prompts", "kv_default")),
    ];
    all.into_iter().map(|(name, store)| (name.to_owned(), store)).collect()
}
