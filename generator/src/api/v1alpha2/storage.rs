//! `spec.storage`: the key-value store and the SQL store of the server.

use super::{SecretKeyRef, rule};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where the server keeps its state. Each part that is left out stays as the distribution has it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Storage {
    /// The key-value store: registries, metadata, small state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kv: Option<KvStorage>,
    /// The SQL store: conversations, responses, stored completions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sql: Option<SqlStorage>,
}

/// Where the server keeps registries, metadata and small state.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    rule("self.type != 'redis' || has(self.endpoint)", "endpoint is required when type is redis"),
    rule("self.type == 'redis' || !has(self.endpoint)", "endpoint is only valid when type is redis"),
    rule("self.type == 'redis' || !has(self.password)", "password is only valid when type is redis"),
]))]
pub struct KvStorage {
    /// `sqlite` (a file in the pod's storage) or `redis`.
    #[serde(rename = "type", default)]
    pub kind: KvType,
    /// Address of the Redis server: `redis.example.svc:6379`. Required for `redis`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 2048))]
    pub endpoint: Option<String>,
    /// The Redis password, from a Secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password: Option<SecretKeyRef>,
}

/// The key-value stores that can be asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum KvType {
    /// A file in the pod's storage.
    #[default]
    Sqlite,
    /// A Redis server, reached at `endpoint`.
    Redis,
}

/// Where the server keeps conversations, responses and stored completions.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    rule(
        "self.type != 'postgres' || has(self.connectionString)",
        "connectionString is required when type is postgres",
    ),
    rule(
        "self.type == 'postgres' || !has(self.connectionString)",
        "connectionString is only valid when type is postgres",
    ),
]))]
pub struct SqlStorage {
    /// `sqlite` (a file in the pod's storage) or `postgres`.
    #[serde(rename = "type", default)]
    pub kind: SqlType,
    /// The Postgres URL, from a Secret: `postgresql://user:password@host:5432/db`. Required for `postgres`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection_string: Option<SecretKeyRef>,
}

/// The SQL stores that can be asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SqlType {
    /// A file in the pod's storage.
    #[default]
    Sqlite,
    /// A PostgreSQL server, reached at `connectionString`.
    Postgres,
}
