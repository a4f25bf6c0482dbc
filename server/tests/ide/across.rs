//! Actions that change other files. Applied, they mend what they were offered for, and bring nothing new.

use crate::ide::files::Files;
use expect_test::{Expect, expect};
use llsd::ide::{self, CodeAction, FileEdits, Span};
use std::fmt::Write;

/// All actions for the first file of the fixture.
fn actions(files: &Files, name: &str) -> Vec<CodeAction> {
    let (query, whole) = (files.about(name), Span::new(0, files.text(name).len()));
    let mut all = ide::quick_fixes(&query, whole);
    all.extend(ide::migration_offers(&query, whole).into_iter().filter_map(|offer| {
        let migrated = ide::accept_migration(&query, &offer).ok()?;
        Some(CodeAction {
            title: offer.title,
            kind: ide::ActionKind::Rewrite,
            edits: migrated.edits,
            others: migrated.others,
            deletes: migrated.deletes,
            preferred: false,
            fixes: None,
        })
    }));
    all
}

/// The files after an action.
fn after(files: &Files, name: &str, action: &CodeAction) -> Files {
    let own = FileEdits { file: name.into(), text: files.text(name).into(), edits: action.edits.clone() };
    let all: Vec<_> = action.others.iter().cloned().chain([own]).collect();
    let mut texts = files.edited(&all);
    if let Some(gone) = &action.deletes {
        texts.remove(gone);
    }
    Files::of(&texts)
}

fn findings(files: &Files) -> Vec<String> {
    let of = |name: &std::sync::Arc<str>| {
        let found = files.analysis(name).diagnostics();
        found.into_iter().map(|found| format!("{name} {}", found.code)).collect::<Vec<_>>()
    };
    files.names().iter().flat_map(of).collect()
}

/// Takes the action of a title, and shows the files that changed. The finding that it mends is gone, with no new one.
fn taken(fixture: &str, title: &str, expected: Expect) -> Files {
    let files = Files::new(fixture);
    let first = "main.yaml";
    let all = actions(&files, first);
    let titles: Vec<_> = all.iter().map(|action| &action.title).collect();
    let action = all.iter().find(|action| action.title == title).unwrap_or_else(|| panic!("{titles:?}"));
    let new = after(&files, first, action);
    let (before, now) = (findings(&files), findings(&new));
    if let Some((code, _)) = action.fixes {
        let count = |all: &[String]| all.iter().filter(|one| one.ends_with(code)).count();
        assert!(count(&now) < count(&before), "{before:?}\n{now:?}");
    }
    assert!(now.iter().all(|one| before.contains(one)), "{before:?}\n{now:?}");
    let mut shown = String::new();
    for name in files.names() {
        match new.names().contains(&name) {
            false => writeln!(shown, "#- {name} is gone").unwrap(),
            true if new.text(&name) != files.text(&name) => write!(shown, "#- {name}\n{}", new.text(&name)).unwrap(),
            true => {}
        }
    }
    expected.assert_eq(&shown);
    new
}

fn titles(fixture: &str) -> Vec<String> {
    let files = Files::new(fixture);
    actions(&files, "main.yaml").into_iter().map(|action| action.title).collect()
}

const OLD: &str = "apiVersion: llamastack.io/v1alpha1
kind: LlamaStackDistribution
metadata: {name: old}
spec:
  server:
    distribution: {name: starter}
    userConfig: {configMapName: config}
";

const CONFIG: &str = "#- config.yaml
# written long ago
apiVersion: v1
kind: ConfigMap
metadata: {name: config}
data:
  KEY: |
    # for the team
    version: 2
    apis: [inference]
    providers:
      inference:
        # the fast one
        - provider_id: fast
          provider_type: remote::vllm
          config:
            base_url: http://fast:8000/v1 # behind the proxy
            # enough for all
            max_tokens: 4321
    # the end
";

const NEW: &str = "apiVersion: llamastack.io/v1alpha2
kind: LlamaStackDistribution
metadata: {name: demo}
spec:
  distribution: {name: starter}
  providers:
    inference:
      - provider: vllm
        endpoint: http://v:8000/v1
";

fn config(key: &str) -> String {
    CONFIG.replace("KEY", key)
}

#[test]
fn a_key_of_a_config_map_gets_its_name_with_all_that_mounts_it() {
    let pod = "#- pod.yaml\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  volumes:\n    - configMap:\n        \
               name: config\n        items: [{key: run.yaml, path: x}]\n";
    taken(
        &format!("{OLD}{}{pod}", config("run.yaml")),
        "Rename run.yaml of ConfigMap \"config\" in config.yaml to config.yaml",
        expect![[r#"
            #- config.yaml
            # written long ago
            apiVersion: v1
            kind: ConfigMap
            metadata: {name: config}
            data:
              config.yaml: |
                # for the team
                version: 2
                apis: [inference]
                providers:
                  inference:
                    # the fast one
                    - provider_id: fast
                      provider_type: remote::vllm
                      config:
                        base_url: http://fast:8000/v1 # behind the proxy
                        # enough for all
                        max_tokens: 4321
                # the end
            #- pod.yaml
            apiVersion: v1
            kind: Pod
            metadata: {name: p}
            spec:
              volumes:
                - configMap:
                    name: config
                    items: [{key: config.yaml, path: x}]
        "#]],
    );
    // the ConfigMap of another namespace, or one of two, is not meant
    let other = config("run.yaml").replace("{name: config}", "{name: config, namespace: other}");
    assert!(!titles(&format!("{OLD}{other}")).iter().any(|title| title.starts_with("Rename")));
    let twice = config("run.yaml").replace("#- config.yaml", "#- second.yaml");
    assert!(!titles(&format!("{OLD}{}{twice}", config("run.yaml"))).iter().any(|title| title.starts_with("Rename")));
}

#[test]
fn a_config_of_another_file_is_folded_with_its_comments() {
    taken(
        &format!("{OLD}{}", config("config.yaml")),
        "Migrate to v1alpha2",
        expect![[r#"
        #- main.yaml
        apiVersion: llamastack.io/v1alpha2
        kind: LlamaStackDistribution
        metadata: {name: old}
        spec:
          distribution: {name: starter}
          providers:
            inference:
              # the fast one
              - id: fast
                provider: vllm
                endpoint: http://fast:8000/v1 # behind the proxy
                settings:
                  # enough for all
                  max_tokens: 4321
          disabled:
            - agents
            - batches
            - datasetio
            - eval
            - files
            - post_training
            - safety
            - scoring
            - tool_runtime
            - vector_io
    "#]],
    );
}

#[test]
fn a_folded_config_map_goes_where_nothing_refers_to_it() {
    let title = "Migrate to v1alpha2 and remove ConfigMap \"config\", with the file config.yaml";
    let fixture = format!("{OLD}{}", config("config.yaml"));
    taken(
        &fixture,
        title,
        expect![[r#"
        #- config.yaml is gone
        #- main.yaml
        apiVersion: llamastack.io/v1alpha2
        kind: LlamaStackDistribution
        metadata: {name: old}
        spec:
          distribution: {name: starter}
          providers:
            inference:
              # the fast one
              - id: fast
                provider: vllm
                endpoint: http://fast:8000/v1 # behind the proxy
                settings:
                  # enough for all
                  max_tokens: 4321
          disabled:
            - agents
            - batches
            - datasetio
            - eval
            - files
            - post_training
            - safety
            - scoring
            - tool_runtime
            - vector_io
    "#]],
    );
    let secret = "---\napiVersion: v1\nkind: Secret\nmetadata: {name: s}\n";
    taken(
        &format!("{fixture}{secret}"),
        "Migrate to v1alpha2 and remove ConfigMap \"config\" in config.yaml",
        expect![[r#"
            #- config.yaml
            ---
            apiVersion: v1
            kind: Secret
            metadata: {name: s}
            #- main.yaml
            apiVersion: llamastack.io/v1alpha2
            kind: LlamaStackDistribution
            metadata: {name: old}
            spec:
              distribution: {name: starter}
              providers:
                inference:
                  # the fast one
                  - id: fast
                    provider: vllm
                    endpoint: http://fast:8000/v1 # behind the proxy
                    settings:
                      # enough for all
                      max_tokens: 4321
              disabled:
                - agents
                - batches
                - datasetio
                - eval
                - files
                - post_training
                - safety
                - scoring
                - tool_runtime
                - vector_io
        "#]],
    );
    let removes = |fixture: &str| titles(fixture).iter().any(|title| title.contains("remove"));
    assert!(removes(&fixture));
    let second = OLD.replace("name: old", "name: second");
    assert!(!removes(&format!("{fixture}#- more.yaml\n{second}")), "another resource");
    let pod =
        "#- p.yaml\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  volumes: [{configMap: {name: config}}]\n";
    assert!(!removes(&format!("{fixture}{pod}")), "any object");
    let list = "#- kustomization.yaml\nresources: [main.yaml, config.yaml]\n";
    assert!(!removes(&format!("{fixture}{list}")), "nothing could be built without the file");
    assert!(removes(&format!("{fixture}{secret}{list}")));
    // what is lost with it is told
    let files = Files::new(&fixture);
    let query = files.about("main.yaml");
    let offer = ide::migration_offers(&query, Span::new(0, 0)).into_iter().find(|offer| offer.remove).unwrap();
    let migrated = ide::accept_migration(&query, &offer).unwrap();
    expect![[r#"
        note: removed with ConfigMap "config": # written long ago
        note: removed with ConfigMap "config": # for the team
        note: removed with ConfigMap "config": # the end
        note: ConfigMap "config" is folded into the resource, which no longer uses it
        added: by the distribution: providers (9): inference/anthropic, inference/bedrock, inference/fireworks, inference/gemini, inference/groq, inference/openai, inference/sambanova, inference/sentence-transformers, inference/together
        added: by the distribution: storage (6): backends/kv_default, backends/sql_default, stores/conversations, stores/inference, stores/metadata, stores/prompts"#]]
    .assert_eq(&migrated.noteworthy().join("\n"));
}

#[test]
fn a_missing_key_is_added_where_the_object_is() {
    let asks = |kind: &str| match kind {
        "Secret" => format!("{NEW}        apiKey: {{secretKeyRef: {{name: keys, key: token}}}}\n"),
        _ => format!(
            "{NEW}  workload:\n    overrides:\n      env:\n        - name: LEVEL\n          valueFrom:\n            \
             configMapKeyRef: {{name: keys, key: token}}\n"
        ),
    };
    let object = |kind: &str, data: &str| {
        format!("#- keys.yaml\napiVersion: v1\nkind: {kind}\nmetadata: {{name: keys}} # ours\n{data}")
    };
    let secret = |data: &str| format!("{}{}", asks("Secret"), object("Secret", data));
    let title = "Add key \"token\" to Secret \"keys\" in keys.yaml";
    taken(
        &secret("stringData:\n  other: x # kept\n"),
        title,
        expect![[r##"
        #- keys.yaml
        apiVersion: v1
        kind: Secret
        metadata: {name: keys} # ours
        stringData:
          other: x # kept
          token: ""
    "##]],
    );
    taken(
        &secret("data:\n  other: eA==\n"),
        title,
        expect![[r##"
        #- keys.yaml
        apiVersion: v1
        kind: Secret
        metadata: {name: keys} # ours
        data:
          other: eA==
        stringData:
          token: ""
    "##]],
    );
    taken(
        &format!("{}{}", asks("ConfigMap"), object("ConfigMap", "data: {other: x}\n")),
        "Add key \"token\" to ConfigMap \"keys\" in keys.yaml",
        expect![[r##"
            #- keys.yaml
            apiVersion: v1
            kind: ConfigMap
            metadata: {name: keys} # ours
            data: {other: x, token: ""}
        "##]],
    );
    // in a list, and in the file itself
    let list = "---\napiVersion: v1\nkind: List\nitems:\n  - apiVersion: v1\n    kind: Secret\n    metadata:\n      \
                name: keys\n    stringData:\n      other: x\n";
    taken(
        &format!("{}{list}", asks("Secret")),
        "Add key \"token\" to Secret \"keys\"",
        expect![[r##"
        #- main.yaml
        apiVersion: llamastack.io/v1alpha2
        kind: LlamaStackDistribution
        metadata: {name: demo}
        spec:
          distribution: {name: starter}
          providers:
            inference:
              - provider: vllm
                endpoint: http://v:8000/v1
                apiKey: {secretKeyRef: {name: keys, key: token}}
        ---
        apiVersion: v1
        kind: List
        items:
          - apiVersion: v1
            kind: Secret
            metadata:
              name: keys
            stringData:
              other: x
              token: ""
    "##]],
    );
}

#[test]
fn a_plain_text_goes_into_a_secret_that_is_there() {
    let text = format!(
        "{NEW}        settings:\n          api_token: hf_abcdefghijklmnop # ours\n      - id: second\n        \
         provider: openai\n        apiKey: {{secretKeyRef: {{name: keys, key: api-key}}}}\n"
    );
    let secret = "#- keys.yaml\napiVersion: v1\nkind: Secret\nmetadata:\n  name: keys\nstringData:\n  api-key: x\n";
    assert!(titles(&text).iter().any(|title| title.starts_with("Move it into the new Secret")), "{:?}", titles(&text));
    taken(
        &format!("{text}{secret}"),
        "Move it into Secret \"keys\" in keys.yaml",
        expect![[r#"
        #- keys.yaml
        apiVersion: v1
        kind: Secret
        metadata:
          name: keys
        stringData:
          api-key: x
          vllm-api-key: hf_abcdefghijklmnop
        #- main.yaml
        apiVersion: llamastack.io/v1alpha2
        kind: LlamaStackDistribution
        metadata: {name: demo}
        spec:
          distribution: {name: starter}
          providers:
            inference:
              - provider: vllm
                endpoint: http://v:8000/v1
                apiKey: # ours
                  secretKeyRef:
                    name: keys
                    key: vllm-api-key
              - id: second
                provider: openai
                apiKey: {secretKeyRef: {name: keys, key: api-key}}
    "#]],
    );
    // two of that name: which one is meant nobody knows
    let second = secret.replace("#- keys.yaml", "#- other.yaml");
    assert!(!titles(&format!("{text}{secret}{second}")).iter().any(|title| title.contains("keys")));
}

#[test]
fn a_resource_becomes_an_ogx_server_together_with_its_config_in_another_file() {
    let config = config("config.yaml");
    let title = "Migrate to OGXServer with ogx 1.5.0";
    let files = Files::new(&format!("{OLD}{config}"));
    let all = actions(&files, "main.yaml");
    let new = after(&files, "main.yaml", all.iter().find(|action| action.title == title).unwrap());
    let texts: Vec<String> = new.names().iter().map(|name| new.text(name).to_owned()).collect();
    expect![[r##"
        # written long ago
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: config, labels: {ogx.io/watch: "true"}}
        data:
          config.yaml: |
            # for the team
            version: 2
            apis: [inference]
            providers:
              inference:
                # the fast one
                - provider_id: fast
                  provider_type: remote::vllm
                  config:
                    base_url: http://fast:8000/v1 # behind the proxy
                    # enough for all
                    max_tokens: 4321
            server:
              insecure: true
            # the end
        ---
        apiVersion: ogx.io/v1beta1
        kind: OGXServer
        metadata:
          name: old-ogx
          annotations:
            ogx.io/adopt-networking: old
        spec:
          distribution: {name: starter}
          overrideConfig:
            name: config
            key: config.yaml
          network:
            policy:
              enabled: false
          monitoring:
            enabled: false
    "##]]
    .assert_eq(&texts.join("---\n"));
    let query = files.about("main.yaml");
    let offers = ide::migration_offers(&query, Span::new(0, 0));
    let offer = offers.iter().find(|offer| offer.title == title).unwrap();
    let lines = ide::accept_migration(&query, offer).unwrap().noteworthy();
    expect![[r#"
        change: metadata.name: "old" becomes "old-ogx", which adopts the Service of the old one: only after both carry the new operator's label, see --plan
        not known: ConfigMap "config", config.yaml: ogx 1.5.0 needs "distro_name"
        added: spec.network.policy: stays off, as it was by default: the new operator makes policies unless it is told otherwise
        added: ConfigMap "config", config.yaml: server.insecure: ogx 1.5.0 serves plain HTTP only where that is said"#]].assert_eq(&lines.join("\n"));
}
