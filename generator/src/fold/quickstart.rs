//! The draft of the first quickstart: what v1alpha2 has at the top of `spec` stood in `spec.server` of v1alpha1, next to
//! the fields of v1alpha1. No API server ever took it.

use super::report::Note;
use crate::api::ApiVersion;
use crate::api::v1alpha2::{Distribution, provider_field};
use crate::catalog::{Catalog, ProviderType};
use crate::check::drafts;
use crate::check::finding::FixEdit;
use crate::generate::resolve_type;
use crate::path::{Path, Segment};
use serde_json::{Map, Value, json};

/// Fields of the draft's storage that say where state is kept, and not how large the volume is.
const STATE: [&str; 6] = ["kv", "sql", "type", "connectionString", "endpoint", "password"];

/// Whether a v1alpha1 object is written as that draft.
#[must_use]
pub fn is_quickstart(object: &Value) -> bool {
    let Some(server) = Path::parse("spec.server").find(object) else { return false };
    let has = |field: &str, names: &[&str]| {
        server.get(field).is_some_and(|value| names.iter().any(|name| value.get(name).is_some()))
    };
    server.get("providers").is_some_and(Value::is_object)
        || server.get("disabled").is_some_and(Value::is_array)
        || has("resources", &["models", "tools", "shields"])
        || has("storage", &STATE)
}

/// An object of the draft, taken apart.
pub(super) struct Quickstart {
    /// What is plain v1alpha1 in it.
    pub(super) plain: Value,
    /// Fields of `spec` in v1alpha2.
    fields: Map<String, Value>,
    /// Where they were, and where they go.
    pub(super) moves: Vec<(Path, Path)>,
    pub(super) notes: Vec<Note>,
}

/// Takes an object of the draft apart; `None` for any other.
pub(super) fn taken_apart(object: &Value) -> Option<Quickstart> {
    if !is_quickstart(object) {
        return None;
    }
    let mut plain = object.clone();
    let mut found = Quickstart { plain: Value::Null, fields: Map::new(), moves: Vec::new(), notes: Vec::new() };
    let distribution = Path::parse("spec.server.distribution").find(object);
    let distribution: Option<Distribution> =
        distribution.and_then(|distribution| serde_json::from_value(distribution.clone()).ok());
    let catalog = distribution.and_then(|distribution| {
        let known = crate::distribution::Distributions::embedded().get(distribution.name.as_deref()?).ok()?;
        Catalog::for_version(&known.llama_stack_version)
    });
    let server = plain.get_mut("spec")?.get_mut("server")?.as_object_mut()?;
    for field in ["providers", "resources", "disabled"] {
        let Some(value) = server.shift_remove(field) else { continue };
        let (from, to) = (Path::parse("spec.server").key(field), Path::parse("spec").key(field));
        let value = match (field, value) {
            ("providers", Value::Object(lists)) => found.providers(lists, catalog),
            (_, value) => value,
        };
        found.put(field, value, from, to);
    }
    let state: Map<String, Value> = match server.get_mut("storage").and_then(Value::as_object_mut) {
        Some(storage) => STATE.iter().filter_map(|name| storage.shift_remove_entry(*name)).collect(),
        None => Map::new(),
    };
    if !state.is_empty() {
        if server.get("storage").and_then(Value::as_object).is_some_and(Map::is_empty) {
            server.shift_remove("storage");
        }
        let from = Path::parse("spec.server.storage");
        found.put("storage", Value::Object(of_state(state)), from, Path::parse("spec.storage"));
    }
    found.plain = plain;
    Some(found)
}

impl Quickstart {
    fn put(&mut self, field: &str, value: Value, from: Path, to: Path) {
        self.notes.push(Note::Draft { from: from.clone(), to: to.clone() });
        self.moves.push((from, to));
        self.fields.insert(field.to_owned(), value);
    }

    fn providers(&mut self, lists: Map<String, Value>, catalog: Option<&Catalog>) -> Value {
        let mut out = Map::new();
        for (name, list) in lists {
            let (api, field) = provider_field(&name).unwrap_or((&name, &name));
            let (from, to) =
                (Path::parse("spec.server.providers").key(&name), Path::parse("spec.providers").key(field));
            let list = match list {
                Value::Object(provider) => {
                    self.moves.push((from, to.index(0)));
                    json!([self::provider(api, provider, catalog)])
                }
                Value::Array(items) => {
                    self.moves.push((from, to));
                    let provider = |item| match item {
                        Value::Object(fields) => self::provider(api, fields, catalog),
                        other => other,
                    };
                    items.into_iter().map(provider).collect()
                }
                other => other,
            };
            out.insert(field.to_owned(), list);
        }
        Value::Object(out)
    }

    /// Writes the fields into a v1alpha2 object, in the shapes that v1alpha2 has today.
    pub(super) fn put_into(&self, object: &mut Value) {
        let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) else { return };
        spec.extend(self.fields.clone());
        let mut judged = object.clone();
        judged["apiVersion"] = ApiVersion::V1Alpha2.api_version().into();
        for finding in drafts(&judged) {
            for edit in finding.fixes.iter().take(1).flat_map(|fix| &fix.edits) {
                apply(object, edit);
            }
        }
    }
}

/// A provider of the draft: what stands beside the fields of v1alpha2 is a setting.
fn provider(api: &str, fields: Map<String, Value>, catalog: Option<&Catalog>) -> Value {
    const FIELDS: [&str; 8] = ["id", "provider", "endpoint", "apiKey", "secretRefs", "settings", "host", "port"];
    let mut out = Map::new();
    let mut settings = Map::new();
    let kind = fields.get("provider").or_else(|| fields.get("provider_type")).and_then(Value::as_str);
    let known = kind.zip(catalog).and_then(|(kind, catalog)| {
        let full = resolve_type(Some(catalog), api, kind).ok()?;
        catalog.provider(api, &full)
    });
    for (name, value) in fields {
        match (name.as_str(), value) {
            ("provider_id", value) => _ = out.insert("id".to_owned(), value),
            ("provider_type", value) => _ = out.insert("provider".to_owned(), value),
            ("url", value) => _ = out.insert("endpoint".to_owned(), value),
            ("config" | "settings", Value::Object(config)) => settings.extend(config),
            (name, value) if FIELDS.contains(&name) => _ = out.insert(name.to_owned(), value),
            (name, value) => _ = settings.insert(key(known, name), value),
        }
    }
    if !settings.is_empty() {
        out.insert("settings".to_owned(), Value::Object(settings));
    }
    Value::Object(out)
}

/// The config key that a field of the draft stands for: `region` is `region_name` to a type that reads that.
fn key(known: Option<&ProviderType>, field: &str) -> String {
    let snake: String = field
        .chars()
        .flat_map(|char| {
            let upper = char.is_ascii_uppercase();
            upper.then_some('_').into_iter().chain(std::iter::once(char.to_ascii_lowercase()))
        })
        .collect();
    let candidates = [field.to_owned(), snake.clone(), format!("{snake}_name")];
    let read = |key: &&String| known.is_some_and(|known| known.config.contains_key(*key));
    candidates.iter().find(read).cloned().unwrap_or(snake)
}

/// The draft's storage as v1alpha2 has it: one store was named by its type alone.
fn of_state(mut state: Map<String, Value>) -> Map<String, Value> {
    let mut out = Map::new();
    for part in ["kv", "sql"] {
        out.extend(state.shift_remove_entry(part));
    }
    let redis = state.get("type").and_then(Value::as_str) == Some("redis");
    if !state.is_empty() {
        out.entry(if redis { "kv" } else { "sql" }).or_insert(Value::Object(state));
    }
    out
}

/// Makes one change of the tree.
fn apply(object: &mut Value, edit: &FixEdit) {
    match edit {
        FixEdit::Replace { path, value } | FixEdit::Insert { path, value } => {
            if let Some(place) = parent(object, path) {
                set(place, path, value.clone());
            }
        }
        FixEdit::RenameKey { path, to } => {
            if let Some(value) = taken(object, path)
                && let Some(new) = path.parent().map(|parent| parent.key(to))
                && let Some(place) = parent(object, &new)
            {
                set(place, &new, value);
            }
        }
        FixEdit::Remove { path } => _ = taken(object, path),
        FixEdit::Move { from, to } => {
            if let Some(value) = taken(object, from)
                && let Some(place) = parent(object, to)
            {
                set(place, to, value);
            }
        }
        FixEdit::Quote { .. } => {}
    }
}

/// The value around a place; objects on the way are made.
fn parent<'o>(object: &'o mut Value, path: &Path) -> Option<&'o mut Value> {
    let (_, parents) = path.segments().split_last()?;
    let mut place = object;
    for step in parents {
        place = match step {
            Segment::Key(name) => place.as_object_mut()?.entry(name.clone()).or_insert_with(|| json!({})),
            Segment::Index(position) => place.as_array_mut()?.get_mut(*position)?,
        };
    }
    Some(place)
}

fn set(place: &mut Value, path: &Path, value: Value) {
    match (path.last(), place) {
        (Some(Segment::Key(name)), Value::Object(fields)) => _ = fields.insert(name.clone(), value),
        (Some(Segment::Index(position)), Value::Array(items)) => {
            if let Some(item) = items.get_mut(*position) {
                *item = value;
            }
        }
        _ => {}
    }
}

fn taken(object: &mut Value, path: &Path) -> Option<Value> {
    match (path.last()?, parent(object, path)?) {
        (Segment::Key(name), Value::Object(fields)) => fields.shift_remove(name),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_draft_is_said_in_the_present_words() {
        let object = json!({"spec": {"server": {
            "distribution": {"name": "starter"},
            "providers": {
                "inference": {"provider": "bedrock", "region": "us-east-1", "config": {"profile_name": "p"}},
                "vector_io": [{"id": "a", "provider": "chromadb", "host": "http://c", "port": 8000}],
            },
            "resources": {"models": ["m"], "tools": ["websearch"]},
            "storage": {"type": "postgres", "connectionString": {"name": "pg", "key": "url"}, "size": "5Gi"},
            "disabled": ["eval"],
        }}});
        let found = taken_apart(&object).expect("a draft");
        assert_eq!(
            found.plain["spec"]["server"],
            json!({"distribution": {"name": "starter"}, "storage": {"size": "5Gi"}})
        );
        let mut new = json!({
            "apiVersion": "llamastack.io/v1alpha2",
            "kind": "LlamaStackDistribution",
            "spec": {"distribution": {"name": "starter"}},
        });
        found.put_into(&mut new);
        assert_eq!(
            new["spec"],
            json!({
                "distribution": {"name": "starter"},
                "providers": {
                    "inference": [
                        {"provider": "bedrock", "settings": {"region_name": "us-east-1", "profile_name": "p"}},
                    ],
                    "vectorIo": [{"id": "a", "provider": "chromadb", "endpoint": "http://c:8000"}],
                },
                "resources": {"models": [{"name": "m"}], "tools": ["websearch"]},
                "disabled": ["eval"],
                "storage": {"sql": {"type": "postgres", "connectionString": {"secretKeyRef": {"name": "pg", "key": "url"}}}},
            })
        );
    }

    #[test]
    fn plain_resources_are_none() {
        let plain = json!({"spec": {"server": {"distribution": {"name": "starter"}, "storage": {"size": "1Gi"}, "resources": {"limits": {}}}}});
        assert!(!is_quickstart(&plain));
    }
}
