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
        llsd: old.yaml: loss: spec.server.containerSpec.name: "stack" is gone: the container is always called ogx
        llsd: old.yaml: change: spec.server.containerSpec.env[1]: LLS_PORT is dropped: the operator sets what ogx reads in its place
        llsd: old.yaml: change: spec.server.containerSpec.env[2]: LLAMA_STACK_LOGGING becomes OGX_LOGGING
        llsd: old.yaml: change: spec.server.containerSpec.env[3]: /.llama/distributions/starter becomes /.ogx/distributions/starter, where the volume is mounted now
        llsd: old.yaml: change: metadata.name: "chat" becomes "chat-ogx", which adopts the volume and the Service of the old one: only after both carry the new operator's label, see --plan
        llsd: old.yaml: not known: spec.server.userConfig: the config in ConfigMap "config" is one of llama-stack: rewrite it with `llsd migrate --to 1.5.0`
        llsd: old.yaml: added: spec.network.policy: stays off, as it was by default: the new operator makes policies unless it is told otherwise
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
        llsd: note: Secret "vllm" is in none of these files: it needs the label ogx.io/watch: "true"
    "#]]
    .assert_eq(&ran.err);
    folder.write("new.yaml", &ran.out);
    // What is wrong with it has been said.
    let checked = folder.llsd(&["check", "new.yaml"]);
    assert_eq!(checked.out.matches("error[").count(), 1, "{}", checked.out);
    assert!(checked.out.contains("needs \"token\" for remote::milvus"), "{}", checked.out);
}

#[test]
fn the_plan_shows_the_new_operator_what_is_to_be_adopted_before_anything_is_deleted() {
    let folder = Folder::new("ogx-plan");
    folder.write("old.yaml", OLD);
    let ran = folder.llsd(&["migrate", "--to", "ogx", "--plan", "old.yaml"]);
    expect![[r##"
        # 1. Stop the old operator. Its CRD stays: deleting it deletes every resource.
        kubectl -n llama-stack-k8s-operator-system scale deployment llama-stack-k8s-operator-controller-manager --replicas=0

        # 2. Save what there is, and keep the volumes whatever happens.
        kubectl -n ai get llamastackdistribution chat -o yaml > chat.saved.yaml
        kubectl patch persistentvolume "$(kubectl -n ai get pvc chat-pvc -o jsonpath={.spec.volumeName})" -p '{"spec":{"persistentVolumeReclaimPolicy":"Retain"}}'

        # 3. Show the new operator what the old one made.
        kubectl -n ai label deployment/chat pvc/chat-pvc service/chat-service app.kubernetes.io/managed-by=ogx-operator --overwrite
        kubectl -n ai label ingress/chat-ingress app.kubernetes.io/managed-by=ogx-operator --overwrite || true   # only if there is one

        # 4. Label the Secrets and ConfigMaps that are in none of the files.
        kubectl -n ai label configmap/config ogx.io/watch=true --overwrite

        # 5. Write the new resources (`llsd migrate --to ogx --write`), and apply them.
        kubectl apply -f old.yaml

        # 6. Wait, and look whether the volumes belong to nobody any more.
        kubectl -n ai wait ogxserver/chat-ogx --for=jsonpath={.status.phase}=Ready --timeout=10m
        kubectl -n ai get pvc chat-pvc -o jsonpath={.metadata.ownerReferences}   # must print nothing

        # 7. Delete the old resources. Not before.
        kubectl -n ai delete llamastackdistribution chat

        # 8. Move clients to the new Services (<new name>-service); then give up the adopted ones, which deletes them.
        kubectl -n ai annotate ogxserver/chat-ogx ogx.io/adopt-networking-

        # 9. To go back, up to the deletion of the old resources:
        kubectl -n ai delete ogxserver chat-ogx   # the volume stays
        kubectl -n llama-stack-k8s-operator-system scale deployment llama-stack-k8s-operator-controller-manager --replicas=1
        kubectl -n ai apply -f chat.saved.yaml
    "##]]
    .assert_eq(&ran.out);
    assert_eq!(folder.read("old.yaml"), OLD);
    let ran = folder.llsd(&["migrate", "--to", "0.9.9", "old.yaml"]);
    assert_eq!(ran.code, 2, "{}", ran.err);
}
