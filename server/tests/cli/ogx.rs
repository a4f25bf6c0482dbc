//! `OGXServer`: rendered with a base, and made from resources of llama-stack.

use super::*;

const SERVER: &str = "\
apiVersion: ogx.io/v1beta1
kind: OGXServer
metadata:
  name: chat
spec:
  distribution:
    image: quay.io/example/ogx:1.5.0
  providers:
    inference:
      remote:
        vllm:
          - id: vllm
            endpoint: http://vllm:8000/v1
            apiToken:
              name: vllm
              key: token
";

const OLD: &str = "\
apiVersion: llamastack.io/v1alpha1
kind: LlamaStackDistribution
metadata:
  name: chat
  namespace: ai
spec:
  # two of them
  replicas: 2
  server:
    distribution:
      name: starter
    containerSpec:
      name: stack
      env:
        - name: VLLM_URL # where models are
          value: http://vllm:8000/v1
        - name: LLS_PORT
          value: \"8321\"
        - name: LLAMA_STACK_LOGGING
          value: debug
        - name: SQLITE_STORE_DIR
          value: /.llama/distributions/starter
    userConfig:
      configMapName: config
    storage:
      size: 20Gi
";

const CONFIG: &str = "\
apiVersion: v1
kind: ConfigMap
metadata:
  name: config
  namespace: ai
data:
  config.yaml: |
    version: 2
";

#[test]
fn a_config_is_rendered_from_the_given_base() {
    let folder = Folder::new("ogx-render");
    folder.write("server.yaml", SERVER);
    folder.write("base.yaml", "version: 2\napis: [inference]\nlogging: {}\n");
    let ran = folder.llsd(&["render", "server.yaml", "--base", "base.yaml", "--origins"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    expect![[r#"
    "#]]
    .assert_eq(&ran.out);
    let ran = folder.llsd(&["render", "server.yaml", "--base", "base.yaml", "--env"]);
    assert_eq!(
        ran.out,
        "OGX_VLLM_API_TOKEN\tSecret vllm, key token\tspec.providers.inference.remote.vllm[0].apiToken\n"
    );
    let ran = folder.llsd(&["render", "server.yaml"]);
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("--base"), "{}", ran.err);
}

#[test]
fn what_is_lost_on_the_way_to_ogx_is_said_first() {
    let folder = Folder::new("ogx-migrate");
    folder.write("old.yaml", OLD);
    folder.write("config.yaml", CONFIG);
    let ran = folder.llsd(&["migrate", "--to", "ogx", "--write", "old.yaml", "config.yaml"]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    expect![[r#"
    "#]]
    .assert_eq(&ran.err);
    expect![[r#"
    "#]]
    .assert_eq(&folder.read("old.yaml"));
    assert!(
        folder.read("config.yaml").contains("  labels:\n    ogx.io/watch: \"true\"\n"),
        "{}",
        folder.read("config.yaml")
    );
    let ran = folder.llsd(&["migrate", "--to", "ogx", "old.yaml"]);
    assert!(ran.err.contains("nothing to migrate"), "{}", ran.err);
}

#[test]
fn providers_of_v1alpha2_keep_ids_and_secrets() {
    let folder = Folder::new("ogx-providers");
    let old = CLEAN
        .replace("name: minimal", "name: minimal\n  namespace: ai")
        .replace(
            "endpoint: http://vllm:8000/v1\n",
            "endpoint: http://vllm:8000/v1\n        apiKey:\n          secretKeyRef: {name: vllm, key: token}\n    \
             safety:\n      - provider: llama-guard\n    vectorIo:\n      - {id: v, provider: milvus, settings: {uri: \"http://m\"}}\n",
        )
        .replace("  workload:", "  resources:\n    models:\n      - name: chat\n  workload:");
    folder.write("old.yaml", old);
    let ran = folder.llsd(&["migrate", "--to", "ogx@1.5.0", "--same-name", "old.yaml"]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    expect![[r#"
    "#]]
    .assert_eq(&ran.out);
    expect![[r#"
    "#]]
    .assert_eq(&ran.err);
    folder.write("new.yaml", &ran.out);
    let checked = folder.llsd(&["check", "new.yaml"]);
    assert!(!checked.out.contains("error["), "{}", checked.out);
}

#[test]
fn the_plan_shows_the_new_operator_what_is_to_be_adopted_before_anything_is_deleted() {
    let folder = Folder::new("ogx-plan");
    folder.write("old.yaml", OLD);
    let ran = folder.llsd(&["migrate", "--to", "ogx", "--plan", "old.yaml"]);
    expect![[r#"
    "#]]
    .assert_eq(&ran.out);
    assert_eq!(folder.read("old.yaml"), OLD);
    let ran = folder.llsd(&["migrate", "--to", "0.9.9", "old.yaml"]);
    assert_eq!(ran.code, 2, "{}", ran.err);
}
