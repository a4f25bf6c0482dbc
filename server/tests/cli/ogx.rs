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

pub(super) const OLD: &str = "\
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

pub(super) const CONFIG: &str = "\
apiVersion: v1
kind: ConfigMap
metadata:
  name: config
  namespace: ai
data:
  config.yaml: |
    version: 2
    image_name: starter # ours
    apis: [inference, safety]
    providers:
      inference:
        - provider_id: vllm
          provider_type: remote::vllm
          config:
            base_url: ${env.VLLM_URL}
      safety:
        - provider_id: guard
          provider_type: inline::llama-guard
    storage:
      backends:
        kv_default: {type: kv_sqlite, db_path: /.llama/state/kv.db} # on the volume
        sql_default: {type: sql_sqlite, db_path: /.llama/state/sql.db}
      stores:
        metadata: {namespace: registry, backend: kv_default}
    registered_resources:
      models:
        - model_id: fast
          provider_id: vllm
          provider_model_id: test/model
";

const TEMPLATE: &str = "\
apiVersion: template.openshift.io/v1
kind: Template
metadata:
  name: stack
objects:
  - apiVersion: v1
    kind: ConfigMap
    metadata:
      name: config
      labels:
        app: stack
    data:
      run.yaml: |
        version: 2
        image_name: ${DISTRO}
        apis: [inference]
        providers:
          inference:
            - provider_id: ${PROVIDER}
              provider_type: remote::vllm
              config:
                url: ${VLLM}
                api_token: ${env.VLLM_TOKEN}
  - apiVersion: llamastack.io/v1alpha1
    kind: LlamaStackDistribution
    metadata:
      name: ${NAME}
    spec:
      replicas: ${{REPLICAS}}
      server:
        distribution:
          image: ${IMAGE}
        containerSpec:
          port: ${{PORT}}
          env:
            - name: VLLM_TOKEN
              valueFrom:
                secretKeyRef:
                  name: ${SECRET}
                  key: token
        userConfig:
          configMapName: config
parameters:
  - name: NAME
";

#[test]
fn a_config_is_rendered_from_the_given_base() {
    let folder = Folder::new("ogx-render");
    folder.write("server.yaml", SERVER);
    folder.write("base.yaml", "version: 2\napis: [inference]\nlogging: {}\n");
    let ran = folder.llsd(&["render", "server.yaml", "--base", "base.yaml", "--origins"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    expect![[r#"
        base:1                                           | version: "2"
        spec.distribution.image                          | distro_name: quay.io/example/ogx:1.5.0
        base:2                                           | apis:
        base:2                                           | - inference
        rule: providers by API                           | providers:
        spec.providers.inference                         |   inference:
        spec.providers.inference.remote.vllm[0].id       |   - provider_id: vllm
        spec.providers.inference.remote.vllm[0]          |     provider_type: remote::vllm
        spec.providers.inference.remote.vllm[0]          |     config:
        spec.providers.inference.remote.vllm[0].endpoint |       base_url: http://vllm:8000/v1
        spec.providers.inference.remote.vllm[0].apiToken |       api_token: ${env.OGX_VLLM_API_TOKEN}
        rule: what is registered                         | registered_resources: {}
        default: the port                                | server:
        default: the port                                |   port: 8321
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
        llsd: old.yaml: loss: ConfigMap "config", config.yaml: providers.safety: ogx 1.5.0 has no API "safety": responses.config.moderation_endpoint names a moderation service in its place
        llsd: old.yaml: change: spec.server.containerSpec.name: the container is called "ogx", not "stack"
        llsd: old.yaml: change: spec.server.containerSpec.env[1]: LLS_PORT is dropped: the operator sets what ogx reads in its place
        llsd: old.yaml: change: spec.server.containerSpec.env[2]: LLAMA_STACK_LOGGING becomes OGX_LOGGING
        llsd: old.yaml: change: spec.server.containerSpec.env[3]: /.llama/distributions/starter becomes /.ogx/distributions/starter, where the volume is mounted now
        llsd: old.yaml: change: metadata.name: "chat" becomes "chat-ogx", which adopts the volume and the Service of the old one: only after both carry the new operator's label, see --plan
        llsd: old.yaml: note: ConfigMap "config", config.yaml: image_name: ogx 1.5.0 reads it as distro_name
        llsd: old.yaml: note: ConfigMap "config", config.yaml: registered_resources.models[0].model_id: clients know the model as "test/model", and go on to
        llsd: old.yaml: note: ConfigMap "config", config.yaml: storage.backends.kv_default.db_path: /.llama/state/kv.db becomes /.ogx/state/kv.db, where the volume is mounted
        llsd: old.yaml: note: ConfigMap "config", config.yaml: storage.backends.sql_default.db_path: /.llama/state/sql.db becomes /.ogx/state/sql.db, where the volume is mounted
        llsd: old.yaml: added: spec.network.policy: stays off, as it was by default: the new operator makes policies unless it is told otherwise
        llsd: old.yaml: added: ConfigMap "config", config.yaml: server.insecure: ogx 1.5.0 serves plain HTTP only where that is said
    "#]]
    .assert_eq(&ran.err);
    expect![[r#"
        apiVersion: ogx.io/v1beta1
        kind: OGXServer
        metadata:
          name: chat-ogx
          namespace: ai
          annotations:
            ogx.io/adopt-storage: chat
            ogx.io/adopt-networking: chat
        spec:
          distribution:
            name: starter
          overrideConfig:
            name: config
            key: config.yaml
          network:
            policy:
              enabled: false
          monitoring:
            enabled: false
          workload:
            # two of them
            replicas: 2
            storage:
              size: 20Gi
            overrides:
              env:
                - name: VLLM_URL # where models are
                  value: http://vllm:8000/v1
                - name: OGX_LOGGING
                  value: debug
                - name: SQLITE_STORE_DIR
                  value: /.ogx/distributions/starter
    "#]]
    .assert_eq(&folder.read("old.yaml"));
    expect![[r#"
        apiVersion: v1
        kind: ConfigMap
        metadata:
          name: config
          namespace: ai
          labels:
            ogx.io/watch: "true"
        data:
          config.yaml: |
            version: 2
            distro_name: starter # ours
            apis: [inference]
            providers:
              inference:
                - provider_id: vllm
                  provider_type: remote::vllm
                  config:
                    base_url: ${env.VLLM_URL}
            storage:
              backends:
                kv_default: {type: kv_sqlite, db_path: /.ogx/state/kv.db} # on the volume
                sql_default: {type: sql_sqlite, db_path: /.ogx/state/sql.db}
              stores:
                metadata: {namespace: registry, backend: kv_default}
            registered_resources:
              models:
                - model_id: test/model
                  provider_id: vllm
                  provider_model_id: test/model
            server:
              insecure: true
    "#]]
    .assert_eq(&folder.read("config.yaml"));
    let ran = folder.llsd(&["migrate", "--to", "ogx", "old.yaml"]);
    assert!(ran.err.contains("nothing to migrate"), "{}", ran.err);
}

#[test]
fn a_config_in_a_file_that_nobody_named_keeps_all_as_it_is() {
    let folder = Folder::new("ogx-foreign");
    folder.write("old.yaml", OLD);
    folder.write("config.yaml", CONFIG);
    let ran = folder.llsd(&["migrate", "--to", "ogx", "--write", "old.yaml"]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    expect![[r#"
        llsd: old.yaml: not migrated: config.yaml has its config, in ConfigMap "config", which has to be rewritten with it: name that file too
    "#]].assert_eq(&ran.err);
    assert_eq!((folder.read("old.yaml"), folder.read("config.yaml")), (OLD.to_owned(), CONFIG.to_owned()));
}

#[test]
fn parameters_of_a_template_stay_and_the_key_is_the_one_that_was_read() {
    let folder = Folder::new("ogx-template");
    folder.write("template.yaml", TEMPLATE);
    let ran = folder.llsd(&["migrate", "--to", "ogx", "template.yaml"]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    expect![[r#"
        apiVersion: template.openshift.io/v1
        kind: Template
        metadata:
          name: stack
        objects:
          - apiVersion: v1
            kind: ConfigMap
            metadata:
              name: config
              labels:
                app: stack
                ogx.io/watch: "true"
            data:
              run.yaml: |
                version: 2
                distro_name: ${DISTRO}
                apis: [inference]
                providers:
                  inference:
                    - provider_id: ${PROVIDER}
                      provider_type: remote::vllm
                      config:
                        base_url: ${VLLM}
                        api_token: ${env.VLLM_TOKEN}
                server:
                  insecure: true
          - apiVersion: ogx.io/v1beta1
            kind: OGXServer
            metadata:
              name: "${NAME}-ogx"
              annotations:
                ogx.io/adopt-networking: "${NAME}"
            spec:
              distribution:
                image: ${IMAGE}
              overrideConfig:
                name: config
                key: run.yaml
              network:
                port: ${{PORT}}
                policy:
                  enabled: false
              monitoring:
                enabled: false
              workload:
                replicas: ${{REPLICAS}}
                overrides:
                  env:
                    - name: VLLM_TOKEN
                      valueFrom:
                        secretKeyRef:
                          name: ${SECRET}
                          key: token
        parameters:
          - name: NAME
    "#]]
    .assert_eq(&ran.out);
    expect![[r#"
        llsd: template.yaml: change: metadata.name: "${NAME}" becomes "${NAME}-ogx", which adopts the Service of the old one: only after both carry the new operator's label, see --plan
        llsd: template.yaml: not known: spec.server.distribution.image: the image is kept: it has to be one of ogx (1.5.0), which reads other variables and paths
        llsd: template.yaml: note: ConfigMap "config", run.yaml: providers.inference[0].config.url: ogx 1.5.0 reads it as "base_url"
        llsd: template.yaml: note: ConfigMap "config", run.yaml: image_name: ogx 1.5.0 reads it as distro_name
        llsd: template.yaml: added: spec.network.policy: stays off, as it was by default: the new operator makes policies unless it is told otherwise
        llsd: template.yaml: added: ConfigMap "config", run.yaml: server.insecure: ogx 1.5.0 serves plain HTTP only where that is said
    "#]].assert_eq(&ran.err);
}

#[test]
fn a_config_that_another_resource_still_reads_is_said() {
    let folder = Folder::new("ogx-shared");
    folder.write("old.yaml", OLD);
    folder.write("other.yaml", OLD.replace("name: chat\n", "name: other\n"));
    folder.write("config.yaml", CONFIG);
    let ran = folder.llsd(&["migrate", "--to", "ogx", "--dry-run", "old.yaml", "config.yaml"]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    let told = "LlamaStackDistribution \"other\" reads ConfigMap \"config\", too";
    assert!(ran.err.contains(told), "{}", ran.err);
    // a copy that nobody named is not meant
    folder.write("copy.yaml", CONFIG);
    let ran = folder.llsd(&["migrate", "--to", "ogx", "--dry-run", "old.yaml", "config.yaml"]);
    assert!(ran.err.contains("image_name: ogx 1.5.0 reads it as distro_name"), "{}", ran.err);
    assert_eq!(ran.out, "would migrate config.yaml\nwould migrate old.yaml\n");
    fs::remove_file(folder.0.join("copy.yaml")).unwrap();
    let ran = folder.llsd(&["migrate", "--to", "ogx", "--write", "."]);
    assert!(!ran.err.contains(told), "{}", ran.err);
    assert_eq!(folder.read("config.yaml").matches("insecure").count(), 1, "{}", folder.read("config.yaml"));
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
        apiVersion: ogx.io/v1beta1
        kind: OGXServer
        metadata:
          name: minimal
          namespace: ai
        spec:
          distribution:
            name: starter
          providers:
            inference:
              remote:
                vllm:
                  - id: vllm
                    apiToken:
                      name: vllm
                      key: token
                    endpoint: http://vllm:8000/v1
              inline:
                custom:
                  - id: sentence-transformers
                    type: inline::sentence-transformers
            vectorIo:
              inline:
                custom:
                  - id: faiss
                    type: inline::faiss
                    settings:
                      persistence:
                        namespace: vector_io::faiss
                        backend: kv_default
                  - id: sqlite-vec
                    type: inline::sqlite-vec
                    settings:
                      db_path: "${env.SQLITE_STORE_DIR:=~/.ogx/distributions/starter}/sqlite_vec.db"
                      persistence:
                        namespace: vector_io::sqlite_vec
                        backend: kv_default
              remote:
                custom:
                  - id: v
                    type: remote::milvus
                    settings:
                      uri: http://m
                      persistence:
                        namespace: vector_io::v
                        backend: kv_default
          resources:
            models:
              - name: chat
                provider: vllm
          network:
            policy:
              enabled: false
          monitoring:
            enabled: false
          workload:
            workers: 2 # the team's
    "#]]
    .assert_eq(&ran.out);
    expect![[r#"
        llsd: old.yaml: loss: spec.providers.safety: ogx has no safety API: moderation is set by moderation_endpoint on the responses provider
        llsd: old.yaml: change: spec.providers.inference: a list takes the place of all providers of the base config: ollama, tgi, azure, cerebras, nvidia, vertexai, openai, anthropic, gemini, bedrock, fireworks, groq, sambanova, together of the distribution are not served any more. Clients that send keys of their own need entries for them
        llsd: old.yaml: change: spec.providers.vectorIo: a list takes the place of all providers of the base config: milvus, chromadb, pgvector, qdrant, weaviate of the distribution are not served any more. Clients that send keys of their own need entries for them
        llsd: old.yaml: not known: spec.distribution: the operator reads the base config from labels of the image, which Docker Hub does not give it: put a base config of ogx into a ConfigMap and name that in baseConfig
        llsd: old.yaml: not known: spec.providers.vectorIo.remote.custom[0]: provider "v": ogx 1.5.0 needs "token" for remote::milvus and exits without it
        llsd: old.yaml: added: spec.network.policy: stays off, as it was by default: the new operator makes policies unless it is told otherwise
        llsd: note: Secret "vllm" is in none of these files and needs the label: `kubectl -n ai label secret/vllm ogx.io/watch=true --overwrite`
    "#]]
    .assert_eq(&ran.err);
    folder.write("new.yaml", &ran.out);
    // What is wrong with it has been said.
    let checked = folder.llsd(&["check", "new.yaml"]);
    assert_eq!(checked.out.matches("error[").count(), 1, "{}", checked.out);
    assert!(checked.out.contains("needs \"token\" for remote::milvus"), "{}", checked.out);
}

#[test]
fn what_names_the_old_kind_service_and_labels_is_told() {
    let folder = Folder::new("ogx-outside");
    folder.write("old.yaml", OLD.replace("    userConfig:\n      configMapName: config\n", ""));
    folder.write(
        "kustomization.yaml",
        "resources: [old.yaml]\npatches:\n- target: {kind: LlamaStackDistribution, name: other}\n  path: more.yaml\n",
    );
    folder.write(
        "client.yaml",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: client, namespace: ai}\nspec:\n  selector: {matchLabels: {app: llama-stack}}\n  \
         template:\n    spec:\n      containers:\n      - env:\n        - name: URL\n          value: http://chat-service:8321\n        - name: OTHER\n          \
         value: http://my-chat-service:8321\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: far, namespace: web}\nspec:\n  containers:\n  - args: \
         [\"http://chat-service:1\", \"http://chat-service.ai:1\"]\n---\napiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nmetadata: \
         {name: m}\nspec:\n  selector:\n    matchLabels:\n      app: llama-stack\n",
    );
    let ran = folder.llsd(&["migrate", "--to", "ogx", "--dry-run", "old.yaml"]);
    let told: Vec<&str> = ran.err.lines().filter(|line| line.starts_with("llsd: note: ")).collect();
    expect![[r#"
        llsd: note: client.yaml:11: names Service "chat-service", which is gone once chat-ogx gives up adopt-networking: "chat-ogx-service" takes its place
        llsd: note: client.yaml:20: names Service "chat-service", which is gone once chat-ogx gives up adopt-networking: "chat-ogx-service" takes its place
        llsd: note: client.yaml:28: selects app: llama-stack, which the new operator sets to ogx
        llsd: note: kustomization.yaml:3: names the kind LlamaStackDistribution, which is OGXServer from now on"#]].assert_eq(&told.join("\n"));
    let ran = folder.llsd(&["migrate", "--to", "ogx", "--dry-run", "--same-name", "old.yaml"]);
    assert!(!ran.err.contains("names Service") && ran.err.contains("selects app"), "{}", ran.err);
    folder.write("kustomization.yaml", folder.read("kustomization.yaml").replace("name: other", "name: chat"));
    folder.write("more.yaml", "- {op: replace, path: /spec/replicas, value: 3}\n");
    let ran = folder.llsd(&["migrate", "--to", "ogx", "--write", "old.yaml"]);
    assert!(ran.err.contains("have to be migrated together: name them too"), "{}", ran.err);
    assert!(ran.err.contains("kustomization.yaml:3: names the kind LlamaStackDistribution"), "{}", ran.err);
    assert!(folder.read("old.yaml").contains("kind: LlamaStackDistribution"));
    let ran = folder.llsd(&["migrate", "--to", "ogx", "--write", "."]);
    assert!(!ran.err.contains("not migrated"), "{}", ran.err);
    assert!(folder.read("old.yaml").contains("kind: OGXServer"));
    assert_eq!(
        folder.read("kustomization.yaml"),
        "resources: [old.yaml]\npatches:\n- target: {kind: OGXServer, name: chat-ogx}\n  path: more.yaml\n"
    );
    assert_eq!(folder.read("more.yaml"), "- {op: replace, path: /spec/workload/replicas, value: 3}\n");
}
