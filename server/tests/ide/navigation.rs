//! Definition, references and highlight: each kind of name, across files, wherever a resource may stand.

use crate::files::{Files, listed};
use crate::support::v1alpha2;
use expect_test::{Expect, expect};
use llsd::ide::{self, Place, Question};

fn definition(fixture: &str, expected: Expect) {
    let files = Files::new(fixture);
    let (question, at) = files.asked();
    expected.assert_eq(&listed(&ide::definition(&question, at)));
}

fn references(fixture: &str, expected: Expect) {
    let files = Files::new(fixture);
    let (question, at) = files.asked();
    expected.assert_eq(&listed(&ide::references(&question, at, true)));
}

fn highlight(fixture: &str, expected: Expect) {
    let files = Files::new(fixture);
    let (question, at) = files.asked();
    expected.assert_eq(&listed(&ide::highlight(&question, at)));
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

const CONFIG: &str = "\
#- config.yaml
apiVersion: v1
kind: ConfigMap
metadata:
  name: legacy
data:
  config.yaml: |
    version: 2
    apis: [inference]
    providers:
      inference:
        - provider_id: vllm
          provider_type: remote::vllm
          config:
            base_url: ${env.VLLM_URL:=http://a} # not ${env.VLLM_URL}
    registered_resources:
      models:
        - model_id: \"llama\"
          provider_id: vllm
";

const LEGACY: &str = "\
apiVersion: llamastack.io/v1alpha1
kind: LlamaStackDistribution
metadata:
  name: legacy
spec:
  server:
    distribution: {name: starter}
    containerSpec:
      env:
        - name: VLLM_URL
          value: http://b
    userConfig:
      configMapName: legacy
";

#[test]
fn a_config_in_a_config_map_has_names_of_its_own() {
    references(
        &format!("{LEGACY}{}", CONFIG.replacen("provider_id: vllm", "provider_id: vl$0lm", 1)),
        expect![[r#"
            config.yaml 11:24-11:28 vllm *
            config.yaml 18:24-18:28 vllm
        "#]],
    );
    highlight(
        &format!("{LEGACY}{}", CONFIG.replace("\"llama\"", "\"ll$0ama\"")),
        expect![[r#"
        config.yaml 17:22-17:27 llama *
    "#]],
    );
    definition(
        &format!("{}{CONFIG}", LEGACY.replace("configMapName: legacy", "configMapName: leg$0acy")),
        expect![[r#"
        config.yaml 4:9-4:15 legacy *
    "#]],
    );
}

#[test]
fn a_variable_joins_a_resource_and_the_config_it_mounts() {
    definition(
        &format!("{LEGACY}{}", CONFIG.replace("${env.VLLM_URL:", "${env.VLLM_$0URL:")),
        expect![[r#"
        main.yaml 10:17-10:25 VLLM_URL *
    "#]],
    );
    references(
        &format!("{}{CONFIG}", LEGACY.replace("name: VLLM_URL", "name: VLLM_URL$0")),
        expect![[r#"
        main.yaml 10:17-10:25 VLLM_URL *
        config.yaml 14:29-14:37 VLLM_URL
    "#]],
    );
    // without a config of its own it is the base that reads it
    let alone = LEGACY
        .replace("    userConfig:\n      configMapName: legacy\n", "")
        .replace("name: VLLM_URL", "name: VL$0LM_URL");
    references(
        &alone,
        expect![[r#"
        main.yaml 10:17-10:25 VLLM_URL *
        base starter 25:26-25:34 VLLM_URL
        base starter 28:25-28:33 VLLM_URL
    "#]],
    );
}

#[test]
fn a_bare_config_has_names_too() {
    let config: String =
        CONFIG.lines().skip(7).map(|line| format!("{}\n", line.strip_prefix("    ").unwrap())).collect();
    definition(
        &config
            .replacen("          provider_id: vllm", "x", 0)
            .replace("model_id: \"llama\"\n      provider_id: vllm", "model_id: \"llama\"\n      provider_id: vl$0lm"),
        expect![[r#"
        main.yaml 5:20-5:24 vllm *
    "#]],
    );
}

#[test]
fn models_are_found_in_the_whole_workspace() {
    let other = "#- other.yaml\n".to_owned() + &spec("name: gpt", "name: gpt");
    let text = spec("name: gpt", "name: g$0pt") + &other;
    let files = Files::new(&text);
    let (question, at) = files.asked();
    let question = Question { generated: false, ..question };
    expect![[r#"
        main.yaml 23:15-23:18 gpt *
        other.yaml 23:15-23:18 gpt *
    "#]]
    .assert_eq(&listed(&ide::references(&question, at, true)));
    expect![[r#"
        main.yaml 23:15-23:18 gpt *
    "#]]
    .assert_eq(&listed(&ide::definition(&question, at)));
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
    let (question, at) = files.asked();
    assert!(ide::references(&question, at, true).is_empty());
    assert!(ide::prepare_rename(&question, at).is_err());
}

#[test]
fn a_field_leads_to_what_it_produces_and_back() {
    let text = spec("endpoint: http", "end$0point: http");
    definition(
        &text,
        expect![[r#"
        preview 0.0 96:7-96:36 base_url: http://vllm:8000/v1
    "#]],
    );
    let files = Files::new(&text);
    let (question, at) = files.asked();
    let produced = ide::implementation(&question, at);
    let preview = files.about_preview("main.yaml");
    let back = ide::definition(&preview, produced[0].span.start);
    expect![[r#"
        main.yaml 12:9-12:17 endpoint
    "#]]
    .assert_eq(&listed(&back));
    // every generated line leads somewhere that exists
    let text = produced[0].text();
    let mut offset = 0;
    let (mut resource, mut base) = (0, 0);
    for line in text.split_inclusive('\n') {
        for location in ide::definition(&preview, offset) {
            match location.place {
                Place::File(_) => resource += 1,
                Place::Base(_) => base += 1,
                Place::Preview { .. } => panic!("a line of the preview comes from the preview"),
            }
            assert!(!location.span.is_empty(), "{line}");
        }
        offset += line.len();
    }
    assert!(resource >= 10 && base >= 100, "{resource} {base}");
}

#[test]
fn names_of_generated_and_base_texts_are_names() {
    let files = Files::new(&spec("name: gpt", "name: gpt"));
    let preview = files.about_preview("main.yaml");
    let text = ide::preview(files.analysis("main.yaml"), 0).unwrap().text;
    let at = text.find("provider_id: main").unwrap() + "provider_id: m".len();
    expect![[r#"
        preview 0.0 93:18-93:22 main *
        preview 0.0 255:18-255:22 main
        main.yaml 10:13-10:17 main *
        main.yaml 22:19-22:23 main
    "#]]
    .assert_eq(&listed(&ide::references(&preview, at, true)));
    let base = Question { place: Place::Base("starter".to_owned()), analysis: None, library: &files, generated: true };
    let text = ide::base_text("starter").unwrap();
    let at = text.rfind("provider_id: tavily-search").unwrap() + "provider_id: t".len();
    expect![[r#"
        base starter 202:20-202:33 tavily-search *
    "#]]
    .assert_eq(&listed(&ide::definition(&base, at)));
    expect![[r#"
        base starter 202:20-202:33 tavily-search *
        base starter 289:20-289:33 tavily-search
    "#]]
    .assert_eq(&listed(&ide::highlight(&base, at)));
}

#[test]
fn every_offset_of_every_text_has_an_answer() {
    for text in [
        SPEC.to_owned(),
        v1alpha2(SPEC),
        LEGACY.to_owned() + CONFIG,
        "a: [*b, &b {<<: *b}]\nkind: List\nitems: *b\n".to_owned(),
    ] {
        let files = Files::new(&text);
        for name in ["main.yaml", "config.yaml"] {
            if !text.contains("#- config.yaml") && name == "config.yaml" {
                continue;
            }
            let question = files.about(name);
            for at in 0..=files.text(name).len() {
                for location in ide::definition(&question, at).iter().chain(&ide::references(&question, at, true)) {
                    assert!(location.text().get(location.span.start..location.span.end).is_some());
                }
                let _ = ide::prepare_rename(&question, at);
            }
        }
    }
}
