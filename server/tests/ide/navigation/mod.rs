//! Definition, references and highlight: each kind of name, across files, wherever a resource may stand.

mod configs;
mod generated;

use crate::ide::files::{Files, listed};
use crate::ide::support::v1alpha2;
use expect_test::{Expect, expect};
use llsd::ide::{self, Query};

fn definition(fixture: &str, expected: Expect) {
    let files = Files::new(fixture);
    let (query, at) = files.asked();
    expected.assert_eq(&listed(&ide::definition(&query, at)));
}

fn references(fixture: &str, expected: Expect) {
    let files = Files::new(fixture);
    let (query, at) = files.asked();
    expected.assert_eq(&listed(&ide::references(&query, at, true)));
}

fn highlight(fixture: &str, expected: Expect) {
    let files = Files::new(fixture);
    let (query, at) = files.asked();
    expected.assert_eq(&listed(&ide::highlight(&query, at)));
}

const SPEC: &str = "\
distribution:
  name: starter
providers:
  inference:
    - id: main
      provider: vllm
      endpoint: http://vllm:8000/v1
      apiKey:
        secretKeyRef:
          name: vllm
          key: token
    - id: other
      provider: openai
resources:
  models:
    - name: llama
      provider: main
    - name: gpt
      provider: other
  tools:
    - websearch
  shields:
    - llama-guard
disabled:
  - eval
";

const SECRET: &str = "\
#- secret.yaml
apiVersion: v1
kind: Secret
metadata:
  name: vllm
stringData:
  token: x
";

fn spec(from: &str, to: &str) -> String {
    assert!(SPEC.contains(from), "{from}");
    v1alpha2(&SPEC.replacen(from, to, 1))
}

#[test]
fn a_provider_of_a_model_is_declared_in_the_resource() {
    definition(
        &spec("provider: main", "provider: ma$0in"),
        expect![[r#"
        main.yaml 10:13-10:17 main *
    "#]],
    );
    references(
        &spec("id: main", "id: m$0ain"),
        expect![[r#"
        main.yaml 10:13-10:17 main *
        main.yaml 22:19-22:23 main
        preview 0.0 93:18-93:22 main *
        preview 0.0 255:18-255:22 main
    "#]],
    );
    highlight(
        &spec("id: main", "id: $0main"),
        expect![[r#"
        main.yaml 10:13-10:17 main *
        main.yaml 22:19-22:23 main
    "#]],
    );
}

#[test]
fn a_provider_without_id_is_named_by_its_type() {
    let text = v1alpha2(
        "distribution:\n  name: starter\nproviders:\n  inference:\n    - provider: remote::passthrough\n      endpoint: http://a/v1\nresources:\n  models:\n    - name: a\n      provider: pass$0through\n",
    );
    definition(
        &text,
        expect![[r#"
        main.yaml 10:27-10:38 passthrough *
    "#]],
    );
}

#[test]
fn a_provider_of_the_base_is_declared_there() {
    let text =
        v1alpha2("distribution:\n  name: starter\nresources:\n  models:\n    - name: a\n      provider: op$0enai\n");
    definition(
        &text,
        expect![[r#"
        base starter 65:20-65:26 openai *
    "#]],
    );
    // one that exists under a condition only
    definition(
        &text.replace("op$0enai", "oll$0ama"),
        expect![[r#"
        base starter 33:38-33:44 ollama *
    "#]],
    );
}

#[test]
fn a_name_that_replaces_one_of_the_base_leads_there() {
    definition(
        &spec("- websearch", "- web$0search"),
        expect![[r#"
        base starter 288:21-288:39 builtin::websearch *
    "#]],
    );
    definition(
        &spec("name: starter", "name: $0starter"),
        expect![[r#"
        base starter 1:1-1:68 # Base config of the distribution "starter", for llama-stack 0.4.7. *
    "#]],
    );
    definition(
        &spec("- eval", "- ev$0al"),
        expect![[r#"
        base starter 13:5-13:9 eval *
    "#]],
    );
}

#[test]
fn secrets_and_their_keys_are_found_in_other_files() {
    let text = |from: &str, to: &str| format!("{}{SECRET}", spec(from, to));
    definition(
        &text("name: vllm", "name: vl$0lm"),
        expect![[r#"
        secret.yaml 4:9-4:13 vllm *
    "#]],
    );
    definition(
        &text("key: token", "key: to$0ken"),
        expect![[r#"
        secret.yaml 6:3-6:8 token *
    "#]],
    );
    // a key that is not there leads to the Secret
    definition(
        &text("key: token", "key: to$0kens"),
        expect![[r#"
        secret.yaml 4:9-4:13 vllm *
    "#]],
    );
    let from_secret = format!("{}{}", spec("name: vllm", "name: vllm"), SECRET.replace("  token", "  tok$0en"));
    references(
        &from_secret,
        expect![[r#"
        secret.yaml 6:3-6:8 token *
        main.yaml 16:18-16:23 token
    "#]],
    );
}

#[test]
fn the_nearest_secret_of_a_name_is_meant() {
    let own = "---\napiVersion: v1\nkind: Secret\nmetadata: {name: 'vllm'}\ndata: {\"token\": eA==}\n";
    let text = format!("{}{own}{SECRET}", spec("name: vllm", "name: vl$0lm"));
    definition(
        &text,
        expect![[r#"
        main.yaml 34:19-34:23 vllm *
    "#]],
    );
    references(
        &text,
        expect![[r#"
        main.yaml 15:19-15:23 vllm
        main.yaml 34:19-34:23 vllm *
    "#]],
    );
    definition(
        &text.replace("vl$0lm", "vllm").replace("key: token", "key: to$0ken"),
        expect![[r#"
        main.yaml 35:9-35:14 token *
    "#]],
    );
}

#[test]
fn another_namespace_has_other_secrets() {
    let secret = SECRET.replace("  name: vllm", "  name: vllm\n  namespace: other");
    let resource = spec("name: vllm", "name: vl$0lm").replace("  name: demo", "  name: demo\n  namespace: mine");
    let text = format!("{resource}{secret}");
    references(
        &text,
        expect![[r#"
        main.yaml 16:19-16:23 vllm
    "#]],
    );
}

#[test]
fn any_kind_of_object_may_refer_to_a_secret() {
    let other = "#- deployment.yaml\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: vllm\nspec:\n  template:\n    spec:\n      imagePullSecrets:\n        - name: vllm\n      containers:\n        - envFrom:\n            - secretRef:\n                name: vllm\n      volumes:\n        - name: a\n          secret:\n            secretName: vllm\n            items:\n              - {key: token, path: t}\n        - name: b\n          projected:\n            sources:\n              - secret: {name: vllm}\n        - name: c\n          configMap: {name: vllm}\n";
    let secret = SECRET.replace("name: vllm", "name: v$0llm");
    references(
        &format!("{}{secret}{other}", spec("name: vllm", "name: vllm")),
        expect![[r#"
        secret.yaml 4:9-4:13 vllm *
        deployment.yaml 9:17-9:21 vllm
        deployment.yaml 13:23-13:27 vllm
        deployment.yaml 17:25-17:29 vllm
        deployment.yaml 23:32-23:36 vllm
        main.yaml 15:19-15:23 vllm
    "#]],
    );
    let secret = SECRET.replace("  token", "  t$0oken");
    references(
        &format!("{}{secret}{other}", spec("name: vllm", "name: vllm")),
        expect![[r#"
        secret.yaml 6:3-6:8 token *
        deployment.yaml 19:23-19:28 token
        main.yaml 16:18-16:23 token
    "#]],
    );
}

#[test]
fn models_are_found_in_the_whole_workspace() {
    let other = "#- other.yaml\n".to_owned() + &spec("name: gpt", "name: gpt");
    let text = spec("name: gpt", "name: g$0pt") + &other;
    let files = Files::new(&text);
    let (query, at) = files.asked();
    let query = Query { generated: false, ..query };
    expect![[r#"
        main.yaml 23:15-23:18 gpt *
        other.yaml 23:15-23:18 gpt *
    "#]]
    .assert_eq(&listed(&ide::references(&query, at, true)));
    expect![[r#"
        main.yaml 23:15-23:18 gpt *
    "#]]
    .assert_eq(&listed(&ide::definition(&query, at)));
}

#[test]
fn lists_templates_flow_style_and_line_ends_make_no_difference() {
    let list = "apiVersion: v1\r\nkind: List\r\nitems:\r\n  - {apiVersion: llamastack.io/v1alpha2, kind: LlamaStackDistribution, metadata: {name: a}, spec: {distribution: {name: starter}, providers: {inference: [{id: \"one\", provider: vllm, endpoint: \"http://é🦙/v1\"}]}, resources: {models: [{name: m, provider: o$0ne}]}}}\r\n  - apiVersion: llamastack.io/v1alpha2\r\n    kind: LlamaStackDistribution\r\n    metadata:\r\n      name: b\r\n    spec:\r\n      distribution:\r\n        name: starter\r\n      providers:\r\n        inference:\r\n          - id: one\r\n            provider: vllm\r\n            endpoint: http://b/v1\r\n";
    let shown = expect![[r#"
        main.yaml 4:161-4:164 one *
    "#]];
    definition(list, shown);
    let template = list
        .replace("kind: List", "kind: Template")
        .replace("items:", "objects:")
        .replace("apiVersion: v1\r\n", "apiVersion: template.openshift.io/v1\r\n");
    definition(
        &template,
        expect![[r#"
        main.yaml 4:161-4:164 one *
    "#]],
    );
    highlight(
        &format!("---\n# nothing\n---\n{list}"),
        expect![[r#"
        main.yaml 7:161-7:164 one *
        main.yaml 7:253-7:256 one
    "#]],
    );
}

#[test]
fn aliases_and_merges_are_followed() {
    let text = v1alpha2(
        "distribution:\n  name: starter\nproviders:\n  inference:\n    - id: &id main\n      provider: vllm\n      endpoint: http://a/v1\nresources:\n  models:\n    - &first\n      name: a\n      provider: *id\n    - <<: *first\n      name: b\n",
    );
    highlight(
        &text.replace("&id main", "&id ma$0in"),
        expect![[r#"
        main.yaml 10:17-10:21 main *
        main.yaml 17:19-17:22 *id
    "#]],
    );
    definition(
        &text.replace("provider: *id", "provider: *i$0d"),
        expect![[r#"
        main.yaml 10:17-10:21 main *
    "#]],
    );
}

#[test]
fn what_a_template_fills_in_is_no_name() {
    let text = spec("name: vllm", "name: \"{{ .Values.$0secret }}\"");
    let files = Files::new(&text);
    let (query, at) = files.asked();
    assert!(ide::references(&query, at, true).is_empty());
    assert!(ide::prepare_rename(&query, at).is_err());
}
