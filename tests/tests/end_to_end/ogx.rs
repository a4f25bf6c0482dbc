//! A resource whose llama-stack answers, migrated to ogx: the newest ogx starts with what comes of it, and lists the
//! models that the old server listed, by the same names.

use super::migrated::{apply, resource};
use super::{models, world};
use llsd_generator::distribution::BaseConfig;
use llsd_tests::llama_stack::{FakeVllm, Folder, NEWEST, Server, free_port};
use serde::Deserialize as _;
use serde_json::Value;
use std::process::{Command, Output};

const MODEL: &str = "test/model";

fn llsd(arguments: &[&str]) -> Output {
    Command::new(llsd_tests::llsd::binary()).args(arguments).output().unwrap()
}

/// Runs what is written in a cluster, migrates its file, and starts the newest ogx with the config that `config` finds in
/// it and with the variables of the resource.
fn migrate(name: &str, written: impl FnOnce(&str, u16) -> String, config: impl FnOnce(&Folder, &[Value]) -> String) {
    let world = world();
    world.run(|| {
        let vllm = FakeVllm::start(&[MODEL]).unwrap();
        let port = free_port().unwrap();
        let namespace = world.namespace(name);
        let folder = Folder::new(name).unwrap();
        let file = folder.path().join("stack.yaml").to_str().unwrap().to_owned();
        let before = written(&vllm.endpoint(), port);
        std::fs::write(&file, &before).unwrap();
        apply(&namespace, &before);
        namespace.ready("stack");
        let old = models(&format!("http://127.0.0.1:{port}"));
        assert!(old.contains(&format!("vllm/{MODEL}")), "{old:?}");
        namespace.delete("llamastackdistributions", "stack");

        // what is lost is told; the files are written all the same
        let ran = llsd(&["migrate", "--to", "ogx", "--write", &file]);
        assert_eq!(ran.status.code(), Some(1), "{}", String::from_utf8_lossy(&ran.stderr));
        let text = std::fs::read_to_string(&file).unwrap();
        let documents: Vec<Value> =
            serde_yaml::Deserializer::from_str(&text).map(|one| Value::deserialize(one).unwrap()).collect();
        let resource = documents.iter().find(|one| one["kind"] == "OGXServer").unwrap();
        let env = resource["spec"]["workload"]["overrides"]["env"].as_array().into_iter().flatten();
        let env: Vec<(&str, &str)> =
            env.map(|entry| (entry["name"].as_str().unwrap(), entry["value"].as_str().unwrap())).collect();
        // the volume of the pod is a folder here
        let config = config(&folder, &documents).replace("/.ogx/state", folder.path().to_str().unwrap());
        let server = Server::start_version(NEWEST, &config, &env).unwrap_or_else(|why| panic!("{why:#}\n{config}"));
        let new = server.list("/v1/models", "id").unwrap();
        let missing: Vec<&String> = old.iter().filter(|model| !new.contains(model)).collect();
        assert!(missing.is_empty(), "{missing:?} of {old:?} are not among {new:?}");
    });
}

/// The starter's config of the old version in a ConfigMap, with a model that is registered by a name of its own and
/// databases on the volume.
fn by_hand() -> String {
    let registered = format!(
        "models:\n  - model_id: fast\n    provider_id: vllm\n    provider_model_id: {MODEL}\n    model_type: llm\n"
    );
    let config = BaseConfig::embedded("starter").unwrap().replace("  models: []\n", &indented(&registered, 2));
    let config = config.replace("${env.SQLITE_STORE_DIR:=~/.llama/distributions/starter}", "/.llama/state");
    assert!(config.contains("model_id: fast") && config.contains("/.llama/state/kvstore.db"), "{config}");
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: by-hand\ndata:\n  config.yaml: |\n{}---\n",
        indented(&config, 4)
    )
}

fn indented(text: &str, by: usize) -> String {
    text.lines().map(|line| format!("{:by$}{line}\n", "")).collect()
}

#[test]
fn ogx_serves_a_config_by_hand_as_it_was_migrated() {
    let written =
        |vllm: &str, port: u16| by_hand() + &resource(vllm, port, "    userConfig:\n      configMapName: by-hand\n");
    migrate("by-hand-ogx", written, |_, documents| {
        let config_map = documents.iter().find(|one| one["kind"] == "ConfigMap").unwrap();
        assert_eq!(config_map["metadata"]["labels"]["ogx.io/watch"], "true", "{config_map:#}");
        let config = config_map["data"]["config.yaml"].as_str().unwrap();
        assert!(config.contains("/.ogx/state/kvstore.db"), "{config}");
        config.to_owned()
    });
}

#[test]
fn ogx_serves_the_providers_and_models_of_a_resource_as_they_were_migrated() {
    let written = |vllm: &str, port: u16| {
        format!(
            "\
apiVersion: llamastack.io/v1alpha2
kind: LlamaStackDistribution
metadata:
  name: stack
spec:
  distribution:
    name: starter
  providers:
    inference:
      - provider: vllm
        endpoint: {vllm}
  resources:
    models:
      - name: {MODEL}
  networking:
    port: {port}
"
        )
    };
    migrate("by-providers-ogx", written, |folder, _| {
        let base = folder.path().join("base.yaml");
        std::fs::write(&base, BaseConfig::of_version("starter", NEWEST).unwrap().text).unwrap();
        let file = folder.path().join("stack.yaml");
        let ran = llsd(&["render", file.to_str().unwrap(), "--base", base.to_str().unwrap()]);
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        String::from_utf8(ran.stdout).unwrap()
    });
}
