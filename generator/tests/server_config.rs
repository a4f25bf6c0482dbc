//! What is said of a config of the server.

use std::collections::BTreeSet;

use llsd_generator::catalog::Catalog;
use llsd_generator::check::finding::{Finding, Severity};
use llsd_generator::config::{Request, Verdict, check, is_config};
use llsd_generator::path::Path;
use serde_json::{Value, json};

/// A config that every version from 0.4.7 to 0.6.1 starts with.
fn accepted() -> Value {
    json!({
        "version": 2,
        "image_name": "test",
        "apis": ["inference", "safety"],
        "providers": {
            "inference": [{
                "provider_id": "vllm",
                "provider_type": "remote::vllm",
                "config": {"base_url": "http://vllm:8000/v1", "api_token": "${env.VLLM_TOKEN:=fake}"},
            }],
            "safety": [{"provider_id": "guard", "provider_type": "inline::llama-guard", "config": {}}],
        },
        "storage": {
            "backends": {
                "kv_default": {"type": "kv_sqlite", "db_path": "/data/kv.db"},
                "sql_default": {"type": "sql_sqlite", "db_path": "/data/sql.db"},
            },
            "stores": {
                "metadata": {"namespace": "registry", "backend": "kv_default"},
                "inference": {"table_name": "inference_store", "backend": "sql_default"},
                "conversations": {"table_name": "conversations", "backend": "sql_default"},
            },
        },
        "registered_resources": {
            "models": [{"model_id": "chat", "provider_id": "vllm", "model_type": "llm"}],
        },
    })
}

fn judged(config: &Value, version: Option<&str>) -> Verdict {
    check(&Request { config, unknown: &BTreeSet::new(), version })
}

/// The only finding about a config that differs from the accepted one at one place.
fn about(place: &str, value: Value) -> Finding {
    let mut config = accepted();
    put(&mut config, place, value);
    let mut findings = judged(&config, Some("0.4.7")).findings;
    assert_eq!(findings.len(), 1, "{place}: {findings:#?}");
    findings.remove(0)
}

fn put(config: &mut Value, place: &str, value: Value) {
    *config.pointer_mut(place).unwrap_or_else(|| panic!("{place} is there")) = value;
}

#[test]
fn a_good_config_has_no_finding() {
    let verdict = judged(&accepted(), Some("0.4.7"));
    assert_eq!(verdict, Verdict { versions: vec!["0.4.7"], findings: Vec::new() });
    assert!(is_config(&accepted()));
}

#[test]
fn configs_are_told_from_other_files() {
    for other in [
        json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {}}),
        json!({"providers": {"aws": {"region": "x"}}, "version": 1}),
        json!({"providers": {}, "version": 2}),
        json!({"providers": {"inference": [{"provider_id": "a", "provider_type": "remote::vllm"}]}}),
        json!([1]),
        json!(null),
    ] {
        assert!(!is_config(&other), "{other}");
    }
}

#[test]
fn each_kind_of_fault_is_found_at_its_place() {
    let vllm = "/providers/inference/0";
    let cases = [
        (format!("{vllm}/provider_type"), json!("remote::vlm"), "llsd::config::unknown-provider-type", Severity::Error),
        (
            format!("{vllm}/provider_type"),
            json!("remote::deepseek"),
            "llsd::config::unknown-provider-type",
            Severity::Error,
        ),
        (
            format!("{vllm}/config"),
            json!({"base_url": "http://a/v1", "max_token": 1}),
            "llsd::config::unknown-key",
            Severity::Warning,
        ),
        (format!("{vllm}/config"), json!({"url": "http://a/v1"}), "llsd::config::renamed-key", Severity::Error),
        (
            format!("{vllm}/config"),
            json!({"base_url": "http://a/v1", "max_tokens": "many"}),
            "llsd::config::wrong-value",
            Severity::Error,
        ),
        (
            format!("{vllm}/config"),
            json!({"base_url": "http://a/v1", "max_tokens": "${env.N:=many}"}),
            "llsd::config::wrong-default",
            Severity::Warning,
        ),
        (
            format!("{vllm}/config"),
            json!({"base_url": "http://a/v1", "api_token": "sk-1234"}),
            "llsd::config::plain-secret",
            Severity::Warning,
        ),
        (
            format!("{vllm}/config/base_url"),
            json!("${env.VLLM_URL:-http://a/v1}"),
            "llsd::settings::env-syntax",
            Severity::Error,
        ),
        ("/apis/1".to_owned(), json!("inferense"), "llsd::config::unknown-api", Severity::Error),
        (
            "/storage/backends/kv_default/type".to_owned(),
            json!("kv_sqlit"),
            "llsd::config::wrong-value",
            Severity::Error,
        ),
        (
            "/storage/stores/metadata/backend".to_owned(),
            json!("kv_defalt"),
            "llsd::config::unknown-name",
            Severity::Error,
        ),
        (
            "/storage/stores/metadata/backend".to_owned(),
            json!("sql_default"),
            "llsd::config::unknown-name",
            Severity::Error,
        ),
        (
            "/storage/backends/kv_default/type".to_owned(),
            json!("${env.KV_TYPE:+kv_sqlite}"),
            "llsd::config::wrong-default",
            Severity::Warning,
        ),
        (
            "/storage/backends/sql_default/db_path".to_owned(),
            json!("/data/kv.db"),
            "llsd::config::shared-storage",
            Severity::Warning,
        ),
        (
            "/registered_resources/models/0/provider_id".to_owned(),
            json!("vlm"),
            "llsd::config::unknown-name",
            Severity::Error,
        ),
        (
            "/registered_resources/models/0/model_type".to_owned(),
            json!("embedding"),
            "llsd::config::missing-value",
            Severity::Error,
        ),
        (
            "/registered_resources/models/0/model_type".to_owned(),
            json!("chat"),
            "llsd::config::wrong-value",
            Severity::Error,
        ),
    ];
    for (place, value, rule, severity) in cases {
        let mut config = accepted();
        put(&mut config, &place, value.clone());
        let findings = judged(&config, Some("0.4.7")).findings;
        let found: Vec<(&str, Severity)> = findings.iter().map(|one| (one.rule.id, one.severity)).collect();
        assert!(found.contains(&(rule, severity)), "{place} = {value}: {findings:#?}");
    }
}

#[test]
fn a_renamed_key_is_offered_under_its_new_name() {
    let found = about("/providers/inference/0/config", json!({"url": "http://vllm:8000/v1"}));
    assert_eq!(found.path, Path::parse("providers.inference[0].config.url"));
    assert_eq!(found.message, "llama-stack 0.4.7 ignores \"url\" of remote::vllm and exits: the key is \"base_url\"");
    assert_eq!(found.fixes[0].title, "Rename to \"base_url\"");
}

#[test]
fn what_stood_at_the_top_is_moved() {
    let mut config = accepted();
    let models = config["registered_resources"].take();
    config["registered_resources"] = json!({});
    config["models"] = models["models"].clone();
    let findings = judged(&config, Some("0.4.7")).findings;
    let [found] = findings.as_slice() else { panic!("{findings:#?}") };
    assert_eq!(found.message, "llama-stack 0.4.7 ignores \"models\" here: it belongs into registered_resources.models");
    assert_eq!(found.fixes[0].title, "Move to registered_resources.models");
}

#[test]
fn a_config_tells_which_versions_it_is_for() {
    assert_eq!(judged(&accepted(), None).versions, ["0.4.7", "0.5.4", "0.6.1", "0.7.3"]);
    let mut config = accepted();
    config["distro_name"] = json!("test");
    assert_eq!(judged(&config, None).versions, ["0.5.4", "0.6.1", "0.7.3"]);
    config["apis"] = json!(["inference", "responses"]);
    config["providers"]["responses"] = json!([{"provider_id": "builtin", "provider_type": "inline::builtin"}]);
    let versions = judged(&config, None).versions;
    assert!(versions.iter().all(|version| *version == "0.7.3"), "{versions:?}");
}

#[test]
fn only_what_all_plausible_versions_say_is_said() {
    let mut config = accepted();
    config["providers"]["inference"][0]["config"]["tls_verify"] = json!(false);
    // 0.4.7 knows nothing against it, the later ones have deprecated it.
    let unknown = judged(&config, None);
    assert_eq!(unknown.findings, []);
    let known = judged(&config, Some("0.6.1"));
    let found: Vec<String> = known.findings.iter().map(|one| format!("{} {}", one.rule, one.path)).collect();
    let deprecated = ["image_name", "providers.inference[0].config.tls_verify"];
    assert_eq!(found, deprecated.map(|path| format!("llsd::config::deprecated {path}")));
}

#[test]
fn what_a_template_fills_in_is_not_judged() {
    let mut config = accepted();
    put(&mut config, "/providers/inference/0/provider_type", json!("{{ .Values.type }}"));
    let unknown = BTreeSet::from([Path::parse("providers.inference[0].provider_type")]);
    let verdict = check(&Request { config: &config, unknown: &unknown, version: Some("0.4.7") });
    assert_eq!(verdict.findings, []);
}

#[test]
fn every_version_has_a_catalog_and_a_schema() {
    for version in Catalog::versions() {
        let verdict = judged(&accepted(), Some(version));
        assert_eq!(verdict.versions, [version.as_str()]);
    }
}

#[test]
fn values_of_any_shape_are_survived() {
    for value in [json!(null), json!(1), json!("x"), json!([]), json!([null]), json!({}), json!({"a": [{}]})] {
        for place in ["/apis", "/providers", "/storage", "/registered_resources", "/providers/inference/0", "/version"]
        {
            let mut config = accepted();
            put(&mut config, place, value.clone());
            judged(&config, None);
        }
    }
}

#[test]
fn a_config_of_the_old_style_is_told_what_its_keys_are_called_now() {
    let mut config = accepted();
    config["providers"]["inference"][0]["config"] = json!({"url": "http://vllm:8000/v1"});
    let verdict = judged(&config, None);
    assert_eq!(verdict.versions, ["0.3.5"]);
    let [found] = verdict.findings.as_slice() else { panic!("{:#?}", verdict.findings) };
    assert_eq!(found.message, "llama-stack 0.4.7 ignores \"url\" of remote::vllm and exits: the key is \"base_url\"");
    assert!(!found.fixes[0].preferred, "the old server reads the old key only");
    // Whoever says that the old version runs is left alone.
    assert_eq!(judged(&config, Some("0.3.5")).findings, []);
}
