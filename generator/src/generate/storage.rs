//! Stage: where the server keeps its state.

use super::draft::{Draft, spec_path};
use super::error::GenerateError;
use super::origin::Origin;
use super::secrets::{
    DerivedKind, DerivedSecret, EnvSource, EnvVar, SecretKey, reference as env_reference, variable_name,
};
use super::tracked::{Map, Tracked};
use crate::api::v1alpha2::{KvStorage, KvType, SqlStorage, SqlType};
use crate::catalog::ConfigKey;
use crate::path::Path;
use indexmap::IndexMap;

/// Name that the backend of `spec.storage.kv` gets in the config. llama-stack's own distributions use the same.
const KV: &str = "kv_default";
/// Name that the backend of `spec.storage.sql` gets in the config. llama-stack's own distributions use the same.
const SQL: &str = "sql_default";
/// Port of Redis where the endpoint names none, as Redis and its clients have it.
const REDIS_PORT: u16 = 6379;

/// Writes `storage.kv` and `storage.sql` into `storage.backends`, each on its own; the rest of `storage` stays.
///
/// # Errors
/// A Redis endpoint that names no host or no proper port.
pub(super) fn apply(draft: &mut Draft<'_>) -> Result<(), GenerateError> {
    let Some(storage) = &draft.spec.storage else { return Ok(()) };
    let at = spec_path().key("storage");
    if let Some(kv) = &storage.kv {
        let path = at.key("kv");
        let entries = match kv.kind {
            KvType::Sqlite => sqlite(draft, KV, "kv_sqlite", "kvstore.db", &path),
            KvType::Redis => Some(redis(draft, kv, &path)?),
        };
        put(draft, KV, entries, &path);
    }
    if let Some(sql) = &storage.sql {
        let path = at.key("sql");
        let entries = match sql.kind {
            SqlType::Sqlite => sqlite(draft, SQL, "sql_sqlite", "sql_store.db", &path),
            SqlType::Postgres => Some(postgres(draft, sql, &path)),
        };
        put(draft, SQL, entries, &path);
    }
    stores(draft, &at);
    Ok(())
}

fn put(draft: &mut Draft<'_>, backend: &str, entries: Option<Map>, path: &Path) {
    let Some(entries) = entries else { return };
    let origin = Origin::Resource(path.clone());
    let backends = draft.config.child_map("storage", &origin).child_map("backends", &origin).map_mut(&origin);
    let mut tracked = Tracked::map(origin.clone());
    *tracked.map_mut(&origin) = entries;
    backends.insert(backend.to_owned(), tracked);
}

/// A file in the data folder; `None` where the base keeps this backend in a file already.
fn sqlite(draft: &Draft<'_>, backend: &str, kind: &str, file: &str, path: &Path) -> Option<Map> {
    let base = draft.config.get("storage").and_then(|storage| storage.get("backends")?.get(backend));
    if base.and_then(|base| base.text_of("type")) == Some(kind) {
        return None;
    }
    let db_path = format!("{}/{file}", draft.data_folder());
    Some(Map::from([
        ("type".to_owned(), Tracked::text(Origin::Resource(path.key("type")), kind)),
        ("db_path".to_owned(), Tracked::text(Origin::Default("a file in the server's data folder"), db_path)),
    ]))
}

/// llama-stack takes no password for Redis, but puts host and port into a URL: a password travels in the host.
fn redis(draft: &mut Draft<'_>, kv: &KvStorage, path: &Path) -> Result<Map, GenerateError> {
    let at = path.key("endpoint");
    let (host, port) = match &kv.endpoint {
        Some(endpoint) => redis_address(endpoint).ok_or_else(|| GenerateError::RedisEndpoint { path: at.clone() })?,
        None => return Err(GenerateError::RedisEndpoint { path: at }),
    };
    let (host, host_origin) = match &kv.password {
        None => (host, at.clone()),
        Some(secret) => {
            let origin = path.key("password");
            let name = variable_name("STORAGE_KV", "PASSWORD");
            let host = format!(":{}@{host}", env_reference(&name));
            let derived = format!("{}-storage-kv", draft.name);
            let source = EnvSource::Derived(SecretKey { name: derived.clone(), key: "password".to_owned() });
            draft.env.push(EnvVar { name, source, origin: origin.clone() });
            draft.derived_secrets.push(DerivedSecret {
                name: derived,
                source: secret.into(),
                kind: DerivedKind::RedisPassword,
                origin: origin.clone(),
            });
            (host, origin)
        }
    };
    let port_origin = match port {
        Some(_) => Origin::Resource(at),
        None => Origin::Default("the port of Redis"),
    };
    Ok(Map::from([
        ("type".to_owned(), Tracked::text(Origin::Resource(path.key("type")), "kv_redis")),
        ("host".to_owned(), Tracked::text(Origin::Resource(host_origin), host)),
        ("port".to_owned(), Tracked::number(port_origin, port.unwrap_or(REDIS_PORT))),
    ]))
}

/// Host and port of `host`, `host:port`, `[v6]:port`, or one of these behind `redis://`. `None` for anything with a
/// user, a path or another scheme: llama-stack could not use it.
fn redis_address(endpoint: &str) -> Option<(String, Option<u16>)> {
    let place = endpoint.strip_prefix("redis://").unwrap_or(endpoint);
    let place = place.strip_suffix('/').unwrap_or(place);
    if place.contains(['/', '@', '?', '#', ' ']) {
        return None;
    }
    let (host, port) = match place.rsplit_once(':') {
        Some((host, port)) if !host.contains(':') || host.ends_with(']') => (host, Some(port)),
        _ => (place, None),
    };
    if host.is_empty() || (host.contains(':') && !host.starts_with('[')) {
        return None;
    }
    let port = match port {
        None => None,
        Some(text) => Some(text.parse::<u16>().ok().filter(|number| *number > 0)?),
    };
    Some((host.to_owned(), port))
}

/// llama-stack takes no connection string: its parts come from a derived Secret.
fn postgres(draft: &mut Draft<'_>, sql: &SqlStorage, path: &Path) -> Map {
    let mut entries =
        Map::from([("type".to_owned(), Tracked::text(Origin::Resource(path.key("type")), "sql_postgres"))]);
    let Some(secret) = &sql.connection_string else { return entries };
    let origin = path.key("connectionString");
    let derived = format!("{}-storage-sql", draft.name);
    for key in DerivedKind::Postgres.keys() {
        let name = variable_name("STORAGE_SQL", key);
        entries.insert((*key).to_owned(), Tracked::text(Origin::Resource(origin.clone()), env_reference(&name)));
        let source = EnvSource::Derived(SecretKey { name: derived.clone(), key: (*key).to_owned() });
        draft.env.push(EnvVar { name, source, origin: origin.clone() });
    }
    draft.derived_secrets.push(DerivedSecret {
        name: derived,
        source: secret.into(),
        kind: DerivedKind::Postgres,
        origin,
    });
    entries
}

/// A base without `storage.stores` gets the four that the server cannot start without, and both backends.
fn stores(draft: &mut Draft<'_>, at: &Path) {
    let storage = Origin::Resource(at.clone());
    if draft.config.child_map("storage", &storage).get("stores").is_some_and(|stores| !stores.is_null()) {
        return;
    }
    let needed = Origin::Default("the server does not start without it");
    for (backend, kind, file) in [(KV, "kv_sqlite", "kvstore.db"), (SQL, "sql_sqlite", "sql_store.db")] {
        let db_path = format!("{}/{file}", draft.data_folder());
        let backends = draft.config.child_map("storage", &storage).child_map("backends", &needed);
        if backends.get(backend).is_none() {
            let entries = backends.child_map(backend, &needed).map_mut(&needed);
            entries.insert("type".to_owned(), Tracked::text(needed.clone(), kind));
            entries.insert("db_path".to_owned(), Tracked::text(needed.clone(), db_path));
        }
    }
    let stores = draft.config.child_map("storage", &storage).child_map("stores", &needed);
    for (store, key, place, backend) in [
        ("metadata", "namespace", "registry", KV),
        ("inference", "table_name", "inference_store", SQL),
        ("conversations", "table_name", "openai_conversations", SQL),
        ("prompts", "namespace", "prompts", KV),
    ] {
        let entries = stores.child_map(store, &needed).map_mut(&needed);
        entries.insert(key.to_owned(), Tracked::text(needed.clone(), place));
        entries.insert("backend".to_owned(), Tracked::text(needed.clone(), backend));
    }
}

/// A place of a provider in one of the backends: a namespace in the key-value one or a table in the SQL one, as the
/// keys of its setting ask.
pub(super) fn reference(draft: &Draft<'_>, keys: &IndexMap<String, ConfigKey>, place: &str) -> Tracked {
    let origin = Origin::Default("the provider keeps its own records there");
    let mut tracked = Tracked::map(origin.clone());
    let entries = tracked.map_mut(&origin);
    let (default, kind, field, place) = if keys.contains_key("table_name") {
        let table = place.chars().map(|char| if char.is_ascii_alphanumeric() { char } else { '_' }).collect();
        (SQL, "sql_", "table_name", table)
    } else {
        (KV, "kv_", "namespace", place.to_owned())
    };
    entries.insert(field.to_owned(), Tracked::text(origin.clone(), place));
    entries.insert("backend".to_owned(), Tracked::text(origin, backend(draft, default, kind)));
    tracked
}

/// The default backend, or where the base has none of that name, its first of the kind.
fn backend(draft: &Draft<'_>, default: &str, kind: &str) -> String {
    let backends = draft.config.get("storage").and_then(|storage| storage.get("backends")?.as_map());
    let Some(backends) = backends.filter(|backends| !backends.contains_key(default)) else {
        return default.to_owned();
    };
    let of_kind = backends.iter().find(|(_, value)| value.text_of("type").is_some_and(|name| name.starts_with(kind)));
    of_kind.map_or_else(|| default.to_owned(), |(name, _)| name.clone())
}

#[cfg(test)]
mod tests {
    use super::redis_address;

    #[test]
    fn reads_redis_addresses() {
        let some = |host: &str, port| Some((host.to_owned(), port));
        assert_eq!(redis_address("redis:6380"), some("redis", Some(6380)));
        assert_eq!(redis_address("redis://redis.data.svc/"), some("redis.data.svc", None));
        assert_eq!(redis_address("[::1]:6379"), some("[::1]", Some(6379)));
        for wrong in ["", ":6379", "redis:port", "redis:0", "rediss://redis", "redis://:pw@redis", "redis/0", "::1"] {
            assert_eq!(redis_address(wrong), None, "{wrong}");
        }
    }
}
