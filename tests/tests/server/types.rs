//! Every provider type that a resource can name becomes a config that llama-stack accepts and reads to the last key.

use llsd_generator::catalog::{Catalog, ConfigKey, Endpoint, KeyKind, ProviderType};
use llsd_tests::llama_stack::VERSION;
use serde_json::{Map, Value, json};

use crate::server::configs::assert_accepted;
use crate::server::samples::generated;

/// The lists of `spec.providers` and the APIs that they stand for.
const LISTS: [(&str, &str); 4] =
    [("inference", "inference"), ("safety", "safety"), ("vectorIo", "vector_io"), ("toolRuntime", "tool_runtime")];

/// A value that a required key accepts.
fn filled(key: &ConfigKey) -> Value {
    match &key.kind {
        KeyKind::Object(keys) => {
            let needed = keys.iter().filter(|(_, key)| key.required);
            let value = needed.map(|(name, key)| {
                let backend = if keys.contains_key("namespace") { "kv_default" } else { "sql_default" };
                (name.clone(), if name == "backend" { json!(backend) } else { filled(key) })
            });
            Value::Object(value.collect())
        }
        KeyKind::String if key.nullable => Value::Null,
        KeyKind::String => json!("value"),
        KeyKind::Integer | KeyKind::Number => json!(1),
        KeyKind::Boolean | KeyKind::BooleanOrPath => json!(true),
        KeyKind::Array => json!([]),
        KeyKind::Any => Value::Null,
    }
}

/// A provider with all that its type takes: an address, an API key, and the settings that it needs.
fn provider(kind: &ProviderType) -> Value {
    let mut entry =
        Map::from_iter([("id".to_owned(), json!("subject")), ("provider".to_owned(), json!(kind.provider_type))]);
    let mut settled: Vec<&str> = Vec::new();
    match &kind.endpoint {
        Some(Endpoint::Key(_)) => drop(entry.insert("endpoint".to_owned(), json!("http://service.example:1234/v1"))),
        Some(Endpoint::HostPort { .. }) => drop(entry.insert("endpoint".to_owned(), json!("service.example:1234"))),
        None => {}
    }
    settled.extend(kind.endpoint.iter().flat_map(Endpoint::keys));
    if let Some(key) = &kind.api_key {
        entry.insert("apiKey".to_owned(), json!({"secretKeyRef": {"name": "secret", "key": "key"}}));
        settled.push(key);
    }
    let needed = kind.config.iter().filter(|(name, key)| key.required && !settled.contains(&name.as_str()));
    let settings: Map<String, Value> = needed.map(|(name, key)| (name.clone(), filled(key))).collect();
    if !settings.is_empty() {
        entry.insert("settings".to_owned(), Value::Object(settings));
    }
    Value::Object(entry)
}

#[test]
fn every_provider_type_becomes_a_config_that_is_read() {
    let catalog = Catalog::for_version("0.4.7").unwrap();
    let mut configs = Vec::new();
    for (list, api) in LISTS {
        // Old names work but are reported as such; nothing about their keys is special.
        for kind in catalog.providers(api).filter(|kind| kind.deprecated.is_none()) {
            let resource = json!({
                "apiVersion": "llamastack.io/v1alpha2",
                "kind": "LlamaStackDistribution",
                "metadata": {"name": "subject"},
                "spec": {"distribution": {"name": "starter"}, "providers": {list: [provider(kind)]}},
            });
            for made in generated(&resource.to_string()) {
                assert!(made.config.text().contains("provider_id: subject"), "{}", made.config.text());
                configs.push((format!("{api} {}", kind.provider_type), made.config.text().to_owned()));
            }
        }
    }
    assert!(configs.len() > 40, "{}", configs.len());
    assert_accepted(VERSION, &configs);
}
