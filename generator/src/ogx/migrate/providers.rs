//! Providers, models, storage and disabled APIs of v1alpha2, read from the config that they generate: there every short
//! form is written out, and every default is there.

use super::{Class, Draft};
use crate::api::v1alpha2::api_name;
use crate::catalog::Catalog;
use crate::generate::{EnvSource, Generated, Origin, Tracked, plain_id};
use crate::ogx::custom::needed;
use crate::ogx::providers::{APIS, Api, CUSTOM, config_key};
use crate::ogx::{crd, references::is_reference, versions};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The typed fields that work with the upstream operator and the real server, by API and provider type.
const WORKING: [(&str, &str, &str); 9] = [
    ("inference", "remote::vllm", "vllm"),
    ("inference", "remote::openai", "openai"),
    ("inference", "remote::azure", "azure"),
    ("inference", "remote::bedrock", "bedrock"),
    ("inference", "remote::vertexai", "vertexai"),
    ("inference", "remote::watsonx", "watsonx"),
    ("tool_runtime", "remote::brave-search", "braveSearch"),
    ("tool_runtime", "remote::tavily-search", "tavilySearch"),
    ("tool_runtime", "remote::model-context-protocol", "modelContextProtocol"),
];

/// Carries everything that the config was generated from.
pub(super) fn carry(draft: &mut Draft<'_>, generated: &Generated) {
    let secrets: BTreeMap<&str, &EnvSource> =
        generated.env.iter().map(|variable| (variable.name.as_str(), &variable.source)).collect();
    let config = generated.config.tree();
    let needed_ids = model_providers(config);
    let fields: Vec<String> = draft
        .get("spec.providers")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .map(|(name, _)| name.clone())
        .collect();
    let mut ids = BTreeSet::new();
    for field in fields {
        let name = api_name(&field);
        let Some(api) = APIS.iter().find(|api| api.name == name) else {
            gone(draft, &field);
            continue;
        };
        let list = config.get("providers").and_then(|all| all.get(api.name)).and_then(Tracked::as_list);
        let mut left = Vec::new();
        for provider in list.unwrap_or_default() {
            let written = provider.text_of("provider_id").unwrap_or_default();
            let id = plain_id(written);
            let own = matches!(provider.origin, Origin::Resource(_));
            if own || needed_ids.contains(id) || is_active(draft, provider) {
                one(draft, api, provider, id, &secrets, &mut ids);
            } else {
                left.push(id.to_owned());
            }
        }
        if !left.is_empty() {
            let message = format!(
                "a list takes the place of all providers of the base config: {} of the distribution are not served any more. \
                 Clients that send keys of their own need entries for them",
                left.join(", ")
            );
            draft.tell(Class::Change, format!("spec.providers.{field}"), message);
        }
    }
    models(draft, config);
    storage(draft);
    disabled(draft);
    for (place, advice) in [
        (
            "spec.resources.shields",
            "ogx has no shields: moderation is set by moderation_endpoint on the responses provider",
        ),
        (
            "spec.resources.tools",
            "ogx takes tool groups from the toolRuntime providers: websearch from the search provider, rag from file-search",
        ),
    ] {
        if let Some(list) = draft.get(place) {
            let class = if place.ends_with("tools") { Class::Change } else { Class::Loss };
            draft.tell(class, place, format!("{list} has no place: {advice}"));
        }
    }
}

/// The providers that models of the config name.
fn model_providers(config: &Tracked) -> BTreeSet<String> {
    let models = config.get("registered_resources").and_then(|all| all.get("models")).and_then(Tracked::as_list);
    let own = models.unwrap_or_default().iter().filter(|model| matches!(model.origin, Origin::Resource(_)));
    own.filter_map(|model| model.text_of("provider_id").map(|id| plain_id(id).to_owned())).collect()
}

/// An API that ogx does not have.
fn gone(draft: &mut Draft<'_>, field: &str) {
    let advice = match field {
        "safety" => "ogx has no safety API: moderation is set by moderation_endpoint on the responses provider",
        "telemetry" => "ogx has no telemetry API: set the OTEL_* variables",
        _ => "ogx has no such API",
    };
    draft.tell(Class::Loss, format!("spec.providers.{field}"), advice);
}

/// Whether a provider of the base is there without anybody's doing: in the server itself, or switched on by a variable
/// that the resource sets.
fn is_active(draft: &Draft<'_>, provider: &Tracked) -> bool {
    let env = draft.get("spec.workload.overrides.env").and_then(Value::as_array).into_iter().flatten();
    let set: BTreeSet<&str> = env.filter_map(|entry| entry["name"].as_str()).collect();
    let written = provider.text_of("provider_id").unwrap_or_default();
    if let Some((variable, _)) = written.strip_prefix("${env.").and_then(|rest| rest.split_once(":+")) {
        return set.contains(variable);
    }
    let is_inline = provider.text_of("provider_type").is_some_and(|kind| kind.starts_with("inline::"));
    let text = provider.get("config").map(|config| config.to_json().to_string()).unwrap_or_default();
    is_inline || set.iter().any(|name| text.contains(&format!("${{env.{name}")))
}

/// Writes one provider into the new `spec`, and tells what of it has no place there.
fn one(
    draft: &mut Draft<'_>,
    api: &Api,
    provider: &Tracked,
    id: &str,
    variables: &BTreeMap<&str, &EnvSource>,
    ids: &mut BTreeSet<String>,
) {
    let old_type = provider.text_of("provider_type").unwrap_or_default();
    let place = match &provider.origin {
        Origin::Resource(path) => path.to_string(),
        _ => format!("provider {id} of the distribution"),
    };
    let kind = new_type(api.name, old_type);
    if !Catalog::has_type(draft.options.version, api.name, kind) {
        let advice = replacement(api.name, kind).map_or_else(String::new, |advice| format!(": {advice}"));
        let message =
            format!("ogx {} has no provider of type {old_type} for {}{advice}", draft.options.version, api.name);
        return draft.tell(Class::Loss, place, message);
    }
    if kind != old_type {
        draft.tell(Class::Change, place.clone(), format!("{old_type} is called {kind}"));
    }
    let (mut settings, mut secrets) = (Map::new(), Map::new());
    for (key, value) in provider.get("config").and_then(Tracked::as_map).into_iter().flatten() {
        let key = new_key(kind, key, draft.options.version);
        let variable = value.as_text().and_then(|text| text.strip_prefix("${env.")?.strip_suffix('}'));
        match variable.and_then(|name| variables.get(name)) {
            Some(EnvSource::Secret(secret)) => {
                secrets.insert(key.to_owned(), json!({"name": secret.name, "key": secret.key}));
            }
            Some(EnvSource::Derived(_)) => {
                let message =
                    format!("{key} comes from a Secret that the old operator derives: the new one derives none");
                draft.tell(Class::Loss, place.clone(), message);
            }
            None if value.is_null() => {}
            None => _ = settings.insert(key.to_owned(), in_new_folder(value.to_json())),
        }
    }
    if api.name == "inference"
        && let Some(Value::Bool(verify)) = settings.get("tls_verify").cloned()
    {
        settings.shift_remove("tls_verify");
        settings.entry("network").or_insert_with(|| json!({}))["tls"]["verify"] = verify.into();
    }
    let mut unique = id.to_owned();
    for number in 2.. {
        if ids.insert(unique.clone()) {
            break;
        }
        unique = format!("{id}-{number}");
    }
    if unique != id {
        draft.tell(Class::Change, place, format!("id \"{id}\" becomes \"{unique}\": ids are unique over all APIs now"));
    }
    let (side, _) = kind.split_once("::").unwrap_or(("remote", kind));
    let (field, entry) = match typed(api, kind, &settings, &secrets) {
        Some((field, mut entry)) => {
            entry.shift_insert(0, "id".to_owned(), unique.into());
            (field, entry)
        }
        None => (CUSTOM, custom(kind, &unique, settings, secrets)),
    };
    let list = &mut draft.spec["providers"][api.field][side][field];
    if !list.is_array() {
        *list = json!([]);
    }
    let number = list.as_array().map_or(0, Vec::len);
    if let Some(list) = list.as_array_mut() {
        list.push(Value::Object(entry));
    }
    if let Origin::Resource(path) = &provider.origin {
        draft.note_move(&path.to_string(), &format!("providers.{}.{side}.{field}[{number}]", api.field));
    }
}

/// A value in which paths below llama-stack's folder are those of ogx, where the same volume is mounted. As deep as a
/// base config, which is bounded.
fn in_new_folder(value: Value) -> Value {
    match value {
        Value::String(text) => text.replace("/.llama/", "/.ogx/").into(),
        Value::Array(items) => items.into_iter().map(in_new_folder).collect(),
        Value::Object(fields) => fields.into_iter().map(|(key, value)| (key, in_new_folder(value))).collect(),
        other => other,
    }
}

/// The name of a type in ogx.
fn new_type<'t>(api: &str, kind: &'t str) -> &'t str {
    match (api, kind) {
        ("tool_runtime", "inline::rag-runtime") => "inline::file-search",
        ("vector_io", "inline::sqlite_vec") => "inline::sqlite-vec",
        ("vector_io", "inline::meta-reference" | "inline::builtin") => "inline::faiss",
        (_, kind) => kind,
    }
}

/// What to use for a type that is gone.
fn replacement(api: &str, kind: &str) -> Option<&'static str> {
    match (api, kind) {
        ("inference", "remote::tgi" | "remote::hf::endpoint" | "remote::hf::serverless") => {
            Some("use vllm or openai with the address of the endpoint")
        }
        ("inference", "inline::transformers") => Some("use inline::sentence-transformers"),
        ("inference", "inline::meta-reference") => Some("serve the model with vLLM"),
        _ => None,
    }
}

/// The name of a setting in ogx.
fn new_key<'k>(kind: &str, key: &'k str, version: &str) -> &'k str {
    match (kind, key) {
        ("remote::bedrock", "api_key") if versions::is_from(version, &[1, 1]) => "aws_bedrock_bearer_token",
        ("remote::vertexai", "auth_credential") => "access_token",
        (_, key) => key,
    }
}

/// The entry of a typed field, if the operator gets the type right and every setting has a field that takes its value.
fn typed(
    api: &Api,
    kind: &str,
    settings: &Map<String, Value>,
    secrets: &Map<String, Value>,
) -> Option<(&'static str, Map<String, Value>)> {
    let (.., field) = WORKING.iter().find(|(of, known, _)| *of == api.name && *known == kind)?;
    let (side, _) = kind.split_once("::")?;
    let providers = &crd::schema()["properties"]["spec"]["properties"]["providers"]["properties"];
    let schema = &providers[api.field]["properties"][side]["properties"][field]["items"];
    let mut entry = Map::new();
    for (name, inside) in schema["properties"].as_object()?.iter().filter(|(name, _)| *name != "id") {
        let key = config_key(kind, &[name]);
        let value = if is_reference(inside) {
            secrets.get(&key).cloned()
        } else {
            match settings.get(&key) {
                None | Some(Value::Null) => None,
                Some(value) => Some(fitting(kind, &[name], value, inside)?),
            }
        };
        entry.extend(value.map(|value| (name.clone(), value)));
    }
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let given = settings.iter().filter(|(_, value)| !value.is_null()).count() + secrets.len();
    (entry.len() == given && required.into_iter().all(|name| entry.contains_key(name))).then_some((*field, entry))
}

/// A value in the words of the typed field; `None` if that does not take it.
fn fitting(kind: &str, way: &[&str], value: &Value, schema: &Value) -> Option<Value> {
    let fits = match schema["type"].as_str() {
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64() && value.as_f64() >= schema["minimum"].as_f64().or(Some(f64::MIN)),
        Some("boolean") => value.is_boolean(),
        Some("array") => value.as_array().is_some_and(|items| !items.is_empty() && items.iter().all(Value::is_string)),
        Some("object") => {
            let fields = value.as_object()?;
            if schema["additionalProperties"].is_object() {
                return (!fields.is_empty() && fields.values().all(Value::is_string)).then(|| value.clone());
            }
            let mut out = Map::new();
            for (name, inside) in schema["properties"].as_object()? {
                let way = [way, &[name.as_str()]].concat();
                if let Some(inner) = fields.get(&config_key(kind, &way)).filter(|inner| !inner.is_null()) {
                    out.insert(name.clone(), fitting(kind, &way, inner, inside)?);
                }
            }
            return (out.len() == fields.len()).then_some(Value::Object(out));
        }
        _ => false,
    };
    fits.then(|| value.clone())
}

/// The entry of a custom provider, with what ogx asks for beyond what llama-stack did.
fn custom(kind: &str, id: &str, mut settings: Map<String, Value>, secrets: Map<String, Value>) -> Map<String, Value> {
    for (key, value) in needed(kind, id) {
        settings.entry(key).or_insert(value);
    }
    let mut entry = Map::new();
    entry.insert("id".to_owned(), id.into());
    entry.insert("type".to_owned(), kind.into());
    if !secrets.is_empty() {
        entry.insert("secretRefs".to_owned(), secrets.into());
    }
    if !settings.is_empty() {
        entry.insert("settings".to_owned(), settings.into());
    }
    entry
}

/// The models of the resource, each with the provider that it has.
fn models(draft: &mut Draft<'_>, config: &Tracked) {
    let models = config.get("registered_resources").and_then(|all| all.get("models")).and_then(Tracked::as_list);
    let mut kept = Vec::new();
    for model in models.unwrap_or_default() {
        let Origin::Resource(path) = &model.origin else { continue };
        let text = |key: &str| model.text_of(key).unwrap_or_default();
        let name = text("model_id");
        if text("model_type") == "embedding" {
            let message = format!(
                "embedding model \"{name}\" has no place: ogx asks for its dimension, for which there is no field. Register it in \
                 the base config, with metadata.embedding_dimension"
            );
            draft.tell(Class::Loss, path.to_string(), message);
            continue;
        }
        let mut entry = Map::new();
        entry.insert("name".to_owned(), name.into());
        let provider = plain_id(text("provider_id"));
        // Upstream refuses providers of the base as soon as there are others.
        let restated =
            super::super::providers::entries(&json!({ "spec": draft.spec })).iter().any(|one| one.id() == provider);
        if restated {
            entry.insert("provider".to_owned(), provider.into());
        } else if !draft.spec["providers"].is_null() {
            let message =
                format!("model \"{name}\" is of provider \"{provider}\", which the new resource does not have");
            draft.tell(Class::Loss, path.to_string(), message);
            continue;
        }
        for (field, known) in [("modelType", ""), ("contextLength", ""), ("quantization", "")] {
            if let Some(value) = path.key(field).find(draft.old).filter(|value| !value.is_null() && *value != known) {
                entry.insert(field.to_owned(), value.clone());
            }
        }
        draft.note_move(&path.to_string(), &format!("resources.models[{}]", kept.len()));
        kept.push(Value::Object(entry));
    }
    if !kept.is_empty() {
        draft.set("resources.models", kept.into());
    }
}

/// Where data is kept. Files are left to the base config, whose paths hold what is there.
fn storage(draft: &mut Draft<'_>) {
    let Some(storage) = draft.get("spec.storage") else { return };
    let (kv, sql) = (&storage["kv"], &storage["sql"]);
    if kv["type"] != "redis" && sql["type"] != "postgres" {
        let message =
            "is left to the base config: its files are where the old ones were, and a section here would name others";
        return draft.tell(Class::Change, "spec.storage", message);
    }
    let secret = |holder: &Value| json!({"name": holder["secretKeyRef"]["name"], "key": holder["secretKeyRef"]["key"]});
    if kv["type"] == "redis" {
        draft.set("storage.kv", json!({"type": "redis", "endpoint": kv["endpoint"]}));
        draft.note_move("spec.storage.kv", "storage.kv");
        let endpoint = kv["endpoint"].as_str().unwrap_or_default();
        if endpoint.contains(':') {
            let message = "the operator writes all of it as the host, which ogx cannot reach: use a base config with host and port";
            draft.tell(Class::Loss, "spec.storage.kv.endpoint", message);
        }
        if !kv["password"].is_null() {
            draft.set("storage.kv.password", secret(&kv["password"]));
            draft.tell(Class::Loss, "spec.storage.kv.password", "ogx ignores the password of Redis");
        }
    }
    if sql["type"] == "postgres" {
        draft.set("storage.sql", json!({"type": "postgres", "connectionString": secret(&sql["connectionString"])}));
        draft.note_move("spec.storage.sql", "storage.sql");
        if !versions::is_from(draft.options.version, &[1, 4, 1]) {
            let message = format!(
                "ogx {} reads no connection string: use a base config with host, db and user",
                draft.options.version
            );
            draft.tell(Class::Loss, "spec.storage.sql.connectionString", message);
        }
    }
    if kv["type"] != "redis" || sql["type"] != "postgres" {
        let message =
            "the other store becomes a new, empty file below /.ogx: the operator writes the whole section anew";
        draft.tell(Class::Loss, "spec.storage", message);
    }
}

/// The APIs that are switched off, as far as ogx has them.
fn disabled(draft: &mut Draft<'_>) {
    let Some(list) = draft.get("spec.disabled").and_then(Value::as_array) else { return };
    let mut kept: Vec<Value> = Vec::new();
    for (number, name) in list.iter().filter_map(Value::as_str).enumerate() {
        let name = api_name(name);
        let name = if name == "agents" { "responses".to_owned() } else { name };
        if !APIS.iter().any(|api| api.name == name) {
            draft.tell(
                Class::Change,
                format!("spec.disabled[{number}]"),
                format!("ogx has no API {name} that would have to be disabled"),
            );
        } else if !kept.contains(&json!(name)) {
            draft.note_move(&format!("spec.disabled[{number}]"), &format!("disabledAPIs[{}]", kept.len()));
            kept.push(name.into());
        }
    }
    if !kept.is_empty() {
        draft.set("disabledAPIs", kept.into());
        draft.note_move("spec.disabled", "disabledAPIs");
    }
}
