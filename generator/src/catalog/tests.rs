#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;

fn key(version: &str, api: &str, name: &str) -> (Option<Endpoint>, Option<String>) {
    let found = Catalog::for_version(version).unwrap().provider(api, name).unwrap();
    (found.endpoint.clone(), found.api_key.clone())
}

fn one(endpoint: &str, api_key: &str) -> (Option<Endpoint>, Option<String>) {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    (some(endpoint).map(Endpoint::Key), some(api_key))
}

#[test]
fn every_embedded_file_is_read() {
    assert_eq!(Catalog::versions(), ["0.3.5", "0.4.7", "0.5.4", "0.6.1", "0.7.3", "1.0.4", "1.2.5", "1.5.0"]);
    for (version, text) in shelf().versions.iter().zip(&shelf().texts) {
        assert_eq!(&load::parse(text).unwrap().version, version);
        assert_eq!(Catalog::for_version(version).unwrap().version(), version);
    }
    assert!(Catalog::for_version("0.4.6").is_none());
}

#[test]
fn endpoints_and_keys_are_those_that_the_type_reads() {
    assert_eq!(key("0.4.7", "inference", "remote::vllm"), one("base_url", "api_token"));
    assert_eq!(key("0.3.5", "inference", "remote::vllm"), one("url", "api_token"));
    assert_eq!(key("0.3.5", "inference", "remote::azure"), one("api_base", "api_key"));
    assert_eq!(key("0.3.5", "inference", "remote::llama-openai-compat"), one("openai_compat_api_base", "api_key"));
    assert_eq!(key("0.3.5", "inference", "remote::cerebras"), one("base_url", "api_key"));
    assert_eq!(key("0.3.5", "inference", "remote::bedrock"), one("", ""));
    assert_eq!(key("0.4.7", "inference", "remote::bedrock"), one("", "api_key"));
    assert_eq!(key("0.4.7", "inference", "remote::ollama"), one("base_url", ""));
    assert_eq!(key("0.4.7", "inference", "remote::tgi"), one("base_url", ""));
    assert_eq!(key("0.4.7", "inference", "remote::anthropic"), one("", "api_key"));
    assert_eq!(key("0.4.7", "inference", "remote::hf::endpoint"), one("", "api_token"));
    assert_eq!(key("0.5.4", "inference", "remote::vertexai"), one("", ""));
    assert_eq!(key("0.6.1", "inference", "remote::vertexai"), one("", "access_token"));
    assert_eq!(key("0.6.1", "inference", "remote::llama-cpp-server"), one("base_url", "api_key"));
    assert_eq!(key("0.4.7", "vector_io", "remote::chromadb"), one("url", ""));
    assert_eq!(key("0.4.7", "vector_io", "remote::milvus"), one("uri", "token"));
    assert_eq!(key("0.4.7", "vector_io", "remote::qdrant"), one("url", "api_key"));
    assert_eq!(key("0.4.7", "vector_io", "remote::weaviate"), one("weaviate_cluster_url", "weaviate_api_key"));
    assert_eq!(key("0.5.4", "vector_io", "remote::elasticsearch"), one("elasticsearch_url", "elasticsearch_api_key"));
    assert_eq!(key("0.5.4", "vector_io", "remote::oci"), one("conn_str", "password"));
    assert_eq!(key("0.7.3", "vector_io", "remote::infinispan"), one("url", "password"));
    assert_eq!(key("0.4.7", "tool_runtime", "remote::tavily-search"), one("", "api_key"));
    assert_eq!(key("0.4.7", "tool_runtime", "remote::model-context-protocol"), one("", ""));
    assert_eq!(key("0.4.7", "safety", "inline::llama-guard"), one("", ""));
    let pgvector = Endpoint::HostPort { host: "host".to_owned(), port: "port".to_owned() };
    assert_eq!(key("0.4.7", "vector_io", "remote::pgvector"), (Some(pgvector), Some("password".to_owned())));
}

#[test]
fn every_type_answers_for_its_endpoint_and_key() {
    for version in Catalog::versions() {
        let catalog = Catalog::for_version(version).unwrap();
        for api in catalog.apis() {
            assert!(catalog.api_names().any(|name| name == api), "{version} {api}");
            for found in catalog.providers(api) {
                let place = format!("{version} {api} {}", found.provider_type);
                assert!(found.summary.ends_with('.') && !found.summary.contains('\n'), "{place}");
                assert_eq!(found.endpoint.is_none() && found.is_remote(), found.endpoint_hint.is_some(), "{place}");
                assert_eq!(found.api_key.is_none() && found.is_remote(), found.api_key_hint.is_some(), "{place}");
                let endpoint = found.endpoint.iter().flat_map(Endpoint::keys);
                for key in endpoint.chain(found.api_key.as_deref()) {
                    assert!(found.config.contains_key(key), "{place} {key}");
                }
                if let Some(key) = &found.api_key {
                    assert!(found.config[key].secret, "{place} {key}");
                }
                for need in found.requires.iter().chain(&found.optional) {
                    assert!(catalog.api_names().any(|name| name == need), "{place} {need}");
                }
                assert!(found.config.values().all(|key| !key.description.is_empty()), "{place}");
            }
        }
    }
}

#[test]
fn nested_keys_and_dependencies_are_there() {
    let catalog = Catalog::for_version("0.4.7").unwrap();
    let agents = catalog.provider("agents", "inline::meta-reference").unwrap();
    assert!(agents.requires.iter().any(|api| api == "files"));
    let KeyKind::Object(persistence) = &agents.config["persistence"].kind else { panic!("not an object") };
    let KeyKind::Object(state) = &persistence["agent_state"].kind else { panic!("not an object") };
    assert!(state["backend"].required);
    assert_eq!(catalog.resource_api("inference"), Some("models"));
    let vllm = catalog.provider("inference", "remote::vllm").unwrap();
    assert!(vllm.config["base_url"].required && vllm.config["base_url"].url);
    assert_eq!(vllm.config["max_tokens"].default, Some(Value::from(4096)));
    assert!(catalog.provider("vector_io", "inline::sqlite_vec").unwrap().deprecated.is_some());
}

#[test]
fn a_host_and_a_port_come_out_of_an_address() {
    let place = Endpoint::HostPort { host: "host".to_owned(), port: "port".to_owned() };
    let host = |text: &str| ("host", Value::from(text));
    let port = |number: u16| ("port", Value::from(number));
    assert_eq!(place.assign("db:5432").unwrap(), [host("db"), port(5432)]);
    assert_eq!(place.assign("db").unwrap(), [host("db")]);
    assert_eq!(place.assign("postgresql://db.example:5433/").unwrap(), [host("db.example"), port(5433)]);
    assert_eq!(place.assign("[::1]:5432").unwrap(), [host("::1"), port(5432)]);
    assert_eq!(place.assign("::1").unwrap(), [host("::1")]);
    for bad in ["", ":5432", "db:", "db:0", "db:99999", "db:x", "[::1]5432", "db/name", "u:hunter2@db:1"] {
        let error = place.assign(bad).unwrap_err().to_string();
        assert!(!error.contains("hunter2"), "{error}");
    }
    let url = Endpoint::Key("url".to_owned());
    assert_eq!(url.assign("http://x/").unwrap(), [("url", Value::from("http://x/"))]);
}

#[test]
fn the_versions_of_a_type_are_those_of_the_parsed_catalogs() {
    let catalogs: Vec<&Catalog> = Catalog::versions().iter().filter_map(|one| Catalog::for_version(one)).collect();
    assert_eq!(catalogs.len(), Catalog::versions().len());
    for api in catalogs.iter().flat_map(|catalog| catalog.apis()) {
        for kind in catalogs.iter().flat_map(|catalog| catalog.providers(api)) {
            let name = &kind.provider_type;
            let expected: Vec<_> =
                catalogs.iter().filter(|one| one.provider(api, name).is_some()).map(|one| one.version()).collect();
            assert_eq!(Catalog::versions_with(api, name), expected, "{api} {name}");
        }
    }
    assert!(Catalog::versions_with("inference", "remote::none").is_empty());
    assert!(Catalog::versions_with("safety", "remote::vllm").is_empty());
}
