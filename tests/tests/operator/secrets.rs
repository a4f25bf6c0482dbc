//! Secrets that a resource refers to: found, missing, changed, split into parts, and never shown.

use crate::operator::setup::{own, variable, with_key, world};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use llsd_tests::operator::{Audit, condition};
use serde_json::{Value, json};

fn template(deployment: &Value) -> &Value {
    &deployment["spec"]["template"]
}

#[test]
fn missing_secrets_are_told_together_and_found_when_they_come() {
    let namespace = world().namespace("secrets-missing");
    let mut spec = with_key("vllm-key");
    spec["providers"]["toolRuntime"] =
        json!([{"provider": "tavily-search", "apiKey": {"secretKeyRef": {"name": "tavily", "key": "api-key"}}}]);
    namespace.secret("tavily", json!({"another": "TOP-SECRET-1"}));
    namespace.resource("llamastackdistributions", "missing", spec);
    let failed = namespace.wait_condition("missing", "SecretsResolved", "False", "SecretNotFound");
    let message = condition(&failed, "SecretsResolved")["message"].as_str().unwrap();
    let text = "Secret \"vllm-key\" not found in namespace \"secrets-missing\". Referenced by: \
                spec.providers.inference[0].apiKey";
    assert!(message.contains(text), "{message}");
    assert!(message.contains("tavily") && message.contains("api-key"), "both problems: {message}");
    assert_eq!(namespace.event("missing", "SecretResolutionFailed")["type"], "Warning");
    assert!(namespace.try_get("deployments", "missing").is_none(), "its pods could not start");

    namespace.secret("vllm-key", json!({"key": "TOP-SECRET-2"}));
    namespace.wait_condition("missing", "SecretsResolved", "False", "SecretKeyMissing");
    namespace.merge("secrets", "tavily", &json!({"stringData": {"api-key": "TOP-SECRET-3"}}));
    let ready = namespace.ready("missing");
    let resolved = condition(&ready, "SecretsResolved");
    assert_eq!(resolved["reason"], "AllSecretsFound");
    assert_eq!(resolved["message"], "Resolved 2 secret references");
    let deployment = namespace.get("deployments", "missing");
    let key = &variable(&deployment, "LLSD_VLLM_API_KEY")["valueFrom"]["secretKeyRef"];
    assert_eq!(*key, json!({"name": "vllm-key", "key": "key"}));
}

#[test]
fn a_secret_that_the_server_would_exit_at_is_told_and_the_pods_stay() {
    let namespace = world().namespace("secrets-digits");
    namespace.secret("vllm-key", json!({"key": "sk-1"}));
    namespace.resource("llamastackdistributions", "digits", with_key("vllm-key"));
    namespace.ready("digits");
    let before = namespace.get("deployments", "digits");

    namespace.merge("secrets", "vllm-key", &json!({"stringData": {"key": "008154711"}}));
    let failed = namespace.wait_condition("digits", "SecretsResolved", "False", "SecretValueRefused");
    let message = condition(&failed, "SecretsResolved")["message"].as_str().unwrap();
    assert!(message.contains("key \"key\" of Secret \"vllm-key\" as a number"), "{message}");
    assert!(!failed.to_string().contains("8154711"), "the value is not told");
    assert_eq!(template(&namespace.get("deployments", "digits")), template(&before));

    namespace.merge("secrets", "vllm-key", &json!({"stringData": {"key": "sk-2"}}));
    namespace.wait_condition("digits", "SecretsResolved", "True", "AllSecretsFound");
}

#[test]
fn a_changed_secret_restarts_the_pods_that_read_it_and_no_others() {
    let namespace = world().namespace("secrets-changed");
    for name in ["one", "two", "unrelated"] {
        namespace.secret(name, json!({"key": name}));
    }
    namespace.resource("llamastackdistributions", "first", with_key("one"));
    namespace.resource("llamastackdistributions", "second", with_key("two"));
    namespace.ready("first");
    namespace.ready("second");
    let audit = Audit::from_now(world().cluster);
    let _ = audit.settled("secrets-changed");
    let [first, second] = ["first", "second"].map(|name| namespace.get("deployments", name));

    let audit = Audit::from_now(world().cluster);
    namespace.merge("secrets", "unrelated", &json!({"stringData": {"key": "changed"}}));
    namespace.merge("secrets", "one", &json!({"metadata": {"labels": {"mine": "yes"}}}));
    assert_eq!(audit.settled("secrets-changed"), [], "nothing that pods read has changed");

    namespace.merge("secrets", "one", &json!({"stringData": {"key": "changed"}}));
    namespace.wait("deployments", "first", "has a new template", |now| template(now) != template(&first));
    namespace.ready("first");
    let writes = audit.settled("secrets-changed");
    assert!(writes.iter().all(|entry| entry.name == "first"), "{writes:#?}");
    assert_eq!(namespace.get("deployments", "second")["metadata"]["generation"], second["metadata"]["generation"]);
}

#[test]
fn a_connection_string_is_split_into_a_secret_that_keeps_in_step() {
    let own = own("secrets-derived");
    let namespace = &own.namespace;
    namespace.secret("postgres", json!({"url": "postgresql://me:TOP-SECRET@db.example:6543/stack"}));
    let spec = json!({
        "distribution": {"name": "starter"},
        "storage": {"sql": {
            "type": "postgres",
            "connectionString": {"secretKeyRef": {"name": "postgres", "key": "url"}},
        }},
    });
    let created = namespace.resource("llamastackdistributions", "derived", spec);
    namespace.ready("derived");
    let derived = namespace.get("secrets", "derived-storage-sql");
    assert!(crate::operator::setup::is_owned(&derived, &created));
    let value = |secret: &Value, key: &str| {
        let text = secret["data"][key].as_str().unwrap_or_default();
        String::from_utf8(STANDARD.decode(text).unwrap()).unwrap()
    };
    let parts = ["host", "port", "db", "user", "password"].map(|key| value(&derived, key));
    assert_eq!(parts, ["db.example", "6543", "stack", "me", "TOP-SECRET"]);
    let before = namespace.get("deployments", "derived");
    let host = &variable(&before, "LLSD_STORAGE_SQL_HOST")["valueFrom"];
    assert_eq!(host["secretKeyRef"]["name"], "derived-storage-sql");
    let changed = json!({"stringData": {"url": "postgresql://me:TOP-SECRET-2@db.example:6543/stack"}});
    namespace.merge("secrets", "postgres", &changed);
    namespace
        .wait("secrets", "derived-storage-sql", "has the new password", |now| value(now, "password") == "TOP-SECRET-2");
    namespace.wait("deployments", "derived", "has a new template", |now| template(now) != template(&before));
    namespace.ready("derived");

    // What cannot be split is told without telling it, and what runs goes on.
    let before = namespace.get("deployments", "derived");
    namespace.merge("secrets", "postgres", &json!({"stringData": {"url": "TOP-SECRET-3 is no URL"}}));
    let failed = namespace.wait_for("derived", "has failed", |object| object["status"]["phase"] == "Failed");
    assert!(crate::operator::setup::messages(&failed).contains("postgres"), "{:#}", failed["status"]);
    assert_eq!(template(&namespace.get("deployments", "derived")), template(&before));

    // Neither in objects that more people may read than Secrets, nor in the log.
    namespace.delete("llamastackdistributions", "derived");
    namespace.gone("deployments", "derived");
    let mut seen = own.operator.log();
    assert!(seen.contains("derived"), "the log tells about the resource:\n{seen}");
    seen.push_str(&own.operator.metrics());
    seen.push_str(&failed.to_string());
    for kind in ["configmaps", "events", "deployments"] {
        seen.push_str(&json!(namespace.list(kind, "")).to_string());
    }
    assert!(!seen.contains("TOP-SECRET"), "{seen}");
    namespace.gone("secrets", "derived-storage-sql");
}
