//! A resource with a config written by hand, migrated while it runs.

use super::{ask, chat, models, world};
use llsd_tests::cluster::Request;
use llsd_tests::llama_stack::{FakeVllm, Folder, free_port};
use llsd_tests::operator::{Namespace, path, wait_until};
use serde::Deserialize as _;
use serde_json::{Value, json};
use std::process::Command;

const MODEL: &str = "test/model";

/// A config by hand in a ConfigMap. Its databases are where no generated config has them, so that it has to stay.
const BY_HAND: &str = "\
apiVersion: v1
kind: ConfigMap
metadata:
  name: by-hand
data:
  config.yaml: |
    version: 2
    image_name: starter
    apis: [inference]
    providers:
      inference:
        - provider_id: vllm
          provider_type: remote::vllm
          config:
            base_url: ${env.VLLM_URL}
    storage:
      backends:
        kv_default: {type: kv_sqlite, db_path: /.llama/state/kv.db}
        sql_default: {type: sql_sqlite, db_path: /.llama/state/sql.db}
      stores:
        metadata: {namespace: registry, backend: kv_default}
        inference: {table_name: inference_store, backend: sql_default}
        conversations: {table_name: openai_conversations, backend: sql_default}
        prompts: {namespace: prompts, backend: kv_default}
    registered_resources:
      models:
        - model_id: test/model
          provider_id: vllm
          model_type: llm
---
";

/// A resource of v1alpha1 with a model server in a variable; `more` are further lines of `spec.server`.
pub(super) fn resource(vllm: &str, port: u16, more: &str) -> String {
    format!(
        "\
apiVersion: llamastack.io/v1alpha1
kind: LlamaStackDistribution
metadata:
  name: stack
spec:
  server:
    distribution:
      name: starter
    containerSpec:
      port: {port}
      env:
        - name: VLLM_URL
          value: {vllm}
    storage:
      size: 1Gi
{more}"
    )
}

/// Applies each document, as `kubectl apply --server-side` does.
pub(super) fn apply(namespace: &Namespace, text: &str) {
    for document in serde_yaml::Deserializer::from_str(text) {
        let object = Value::deserialize(document).unwrap();
        let plural = match object["kind"].as_str().unwrap() {
            "ConfigMap" => "configmaps",
            _ if object["apiVersion"] == "llamastack.io/v1alpha1" => "v1alpha1",
            _ => "llamastackdistributions",
        };
        let name = object["metadata"]["name"].as_str().unwrap();
        let place = format!("{}/{name}", path(namespace.name(), plural));
        let answer = namespace.cluster().send(Request::apply(place, "team", &object));
        assert!(answer.accepted(), "{}\n{object:#}", answer.message());
    }
}

/// Starts a server, gives it something to keep, migrates the file, applies it, and looks whether all is as it was.
/// Returns the migrated text.
fn migrate(name: &str, written: impl FnOnce(&str, u16) -> String) -> String {
    let world = world();
    let mut migrated = String::new();
    world.run(|| {
        let vllm = FakeVllm::start(&[MODEL]).unwrap();
        let port = free_port().unwrap();
        let url = format!("http://127.0.0.1:{port}");
        let namespace = world.namespace(name);
        let folder = Folder::new(name).unwrap();
        let file = folder.path().join("stack.yaml");
        let before = written(&vllm.endpoint(), port);
        std::fs::write(&file, &before).unwrap();

        apply(&namespace, &before);
        namespace.ready("stack");
        let model = format!("vllm/{MODEL}");
        assert!(models(&url).contains(&model), "{:?}", models(&url));
        let conversation =
            ask(&format!("{url}/v1/conversations"), Some(&json!({"metadata": {"of": "before"}}))).unwrap();
        let id = conversation["id"].as_str().unwrap();

        let ran = Command::new(llsd_tests::llsd::binary()).args(["migrate", "--write"]).arg(&file).output().unwrap();
        assert_eq!(ran.status.code(), Some(0), "{}", String::from_utf8_lossy(&ran.stderr));
        migrated = std::fs::read_to_string(&file).unwrap();
        assert!(migrated.contains("llamastack.io/v1alpha2"), "{migrated}");
        apply(&namespace, &migrated);

        namespace.wait_for("stack", "has been reconciled as migrated", |object| {
            object["status"]["observedGeneration"] == object["metadata"]["generation"]
        });
        namespace.ready("stack");
        wait_until("the migrated server lists the model", || models(&url).contains(&model));
        wait_until("the migrated server answers", || chat(&url, &model) == "A fixed answer.");
        wait_until("the conversation is still there", || {
            ask(&format!("{url}/v1/conversations/{id}"), None).is_some_and(|kept| kept["metadata"]["of"] == "before")
        });
    });
    migrated
}

#[test]
fn a_server_with_a_config_by_hand_is_migrated_and_keeps_its_state() {
    let user_config = "    userConfig:\n      configMapName: by-hand\n";
    let migrated = migrate("by-hand", |vllm, port| format!("{BY_HAND}{}", resource(vllm, port, user_config)));
    assert!(migrated.contains("overrideConfig"), "its databases are elsewhere, so the config stays:\n{migrated}");
}

#[test]
fn a_server_with_variables_is_migrated_to_providers_and_keeps_its_state() {
    let migrated = migrate("by-variables", |vllm, port| resource(vllm, port, ""));
    assert!(migrated.contains("provider: vllm"), "{migrated}");
}
