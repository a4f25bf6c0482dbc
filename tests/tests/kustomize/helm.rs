//! `llsd check --helm`: what the real helm makes of a chart is judged, and placed in the template.

use super::Tree;
use expect_test::expect;
use llsd_tests::helm;
use std::process::Command;

const CHART: &str = "\
#- chart/Chart.yaml
apiVersion: v2
name: stack
version: 0.1.0
#- chart/values.yaml
replicas: 2
models: [small]
#- chart/templates/stack.yaml
apiVersion: llamastack.io/v1alpha2
kind: LlamaStackDistribution
metadata:
  name: {{ .Release.Name }}-stack
spec:
  distribution: {name: starter}
  workload:
    replicas: {{ .Values.replicas }}
  networking:
    port: {{ .Values.port | default 8321 }}
  resources:
    models:
    {{- range .Values.models }}
      - {name: {{ . }}, provider: nowhere}
    {{- end }}
#- chart/templates/config.yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: other}
data: {a: b}
#- more.yaml
replicas: many
port: 80
#- broken/Chart.yaml
apiVersion: v2
name: broken
version: 0.1.0
#- broken/templates/stack.yaml
kind: {{ .Values.nothing.at.all }}
";

fn told(tree: &Tree, arguments: &[&str]) -> (i32, String) {
    let mut command = Command::new(llsd_tests::llsd::binary());
    let ran = command.args(arguments).current_dir(&tree.0).env("PATH", helm::folder()).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let folder = tree.0.display().to_string();
    let all = format!("{}{}", text(ran.stdout), text(ran.stderr)).replace(&folder, "TREE");
    (ran.status.code().unwrap(), all)
}

#[test]
fn what_helm_makes_is_judged_where_the_template_has_it() {
    let tree = Tree::new("helm", CHART);
    let before = tree.files();
    let (code, said) = told(&tree, &["check", "--helm", "chart", "--values", "more.yaml"]);
    expect![[r#"
        error[llsd::schema::type]: expected an integer, found a string
          --> chart/templates/stack.yaml:8:15
           8 |     replicas: {{ .Values.replicas }}
             |               ^^^^^^^^^^^^^^^^^^^^^^

        error[llsd::schema::bounds]: 80 is too small: must be at least 1024
          --> chart/templates/stack.yaml:10:11
          10 |     port: {{ .Values.port | default 8321 }}
             |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

        error[llsd::model::unknown-provider]: Model "small" names provider "nowhere", which does not exist. Available: vllm, ollama, tgi, azure, cerebras, nvidia, vertexai, openai, anthropic, gemini, bedrock, fireworks, groq, sambanova, together, sentence-transformers
          --> chart/templates/stack.yaml:14:35
          14 |       - {name: {{ . }}, provider: nowhere}
             |                                   ^^^^^^^

        1 resource in 1 file: 3 errors
    "#]].assert_eq(&said);
    assert_eq!((code, tree.files()), (1, before));
    // the chart's own values are good but for the model
    let (code, said) = told(&tree, &["check", "--helm", "chart"]);
    expect![[r#"
        error[llsd::model::unknown-provider]: Model "small" names provider "nowhere", which does not exist. Available: vllm, ollama, tgi, azure, cerebras, nvidia, vertexai, openai, anthropic, gemini, bedrock, fireworks, groq, sambanova, together, sentence-transformers
          --> chart/templates/stack.yaml:14:35
          14 |       - {name: {{ . }}, provider: nowhere}
             |                                   ^^^^^^^

        1 resource in 1 file: 1 error
    "#]].assert_eq(&said);
    assert_eq!(code, 1);
}

#[test]
fn a_chart_that_helm_refuses_is_told_with_the_reason() {
    let tree = Tree::new("helm-refused", CHART);
    let (code, said) = told(&tree, &["check", "--helm", "broken"]);
    assert!(code == 2 && said.contains("llsd: broken: helm refuses it: ") && said.contains("nothing"), "{said}");
    let (code, said) = told(&tree, &["check", "--helm", "."]);
    assert_eq!((code, &*said), (2, "llsd: . is no folder with a Chart.yaml; charts are not fetched\n"));
    let mut command = Command::new(llsd_tests::llsd::binary());
    let ran = command.args(["check", "--helm", "chart"]).current_dir(&tree.0).env("PATH", &tree.0).output().unwrap();
    assert_eq!(ran.status.code(), Some(2));
    let said = String::from_utf8(ran.stderr).unwrap();
    assert_eq!(said, "llsd: chart: helm is not installed: it is not on the PATH\n");
}

/// A chart whose config is in its values and files, with mistakes of every kind. `PUT` is what stands in the ConfigMap.
const VALUES: &str = "\
#- chart/Chart.yaml
apiVersion: v2
name: stack
version: 0.1.0
#- chart/values.yaml
replicas: 1
llamaStack:
  # what the server reads
  config: &all
    version: 2
    image_name: starter
    apis: [inference, vector_io]
# less than the config
    providers:
      inference:
        - provider_id: vllm
          provider_type: remote::vllm
          config:
            url: http://vllm:8000/v1   # renamed long ago
            max_tokens: 12345678
            api_token: \"${env.VLLM_API_TOKEN:=}\"
      vector_io:
        - provider_id: faiss
          provider_type: inline::fais
    storge: {}
    server: {port: '8322'}
other: x
text: |
  version: 2
  image_name: starter
  apis: [inference]
  providers:
    inference:
    - {provider_id: vllm, provider_type: 'remote::vlm'}
#- chart/files/run.yaml
version: 2
image_name: starter
apis: [inference]
providers:
  inference:
  - {provider_id: vllm, provider_type: 'remote::vllm', config: {url: 'http://vllm:8000/v1'}}
#- chart/templates/config.yaml
{{- if .Values.llamaStack.config }}
apiVersion: v1
kind: ConfigMap
metadata:
  name: run-config
data:
PUT
{{- end }}
#- chart/templates/stack.yaml
apiVersion: llamastack.io/v1alpha1
kind: LlamaStackDistribution
metadata:
  name: stack
spec:
  replicas: {{ .Values.replicas }}
  server:
    distribution: {name: starter}
    userConfig: {configMapName: run-config}
";

/// Rule, place inside the config and message of what is said of the configs in a file.
fn said_of_configs(tree: &Tree, file: &str) -> Vec<[String; 3]> {
    let ran = tree.llsd(&["check", "--format", "json", file]);
    let said: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
    let field = |one: &serde_json::Value, name: &str| one[name].as_str().unwrap().to_owned();
    let all = said["findings"].as_array().unwrap().iter();
    let all = all.map(|one| ["rule", "path", "message"].map(|name| field(one, name)));
    let is_of_resource = |one: &[String; 3]| one[1].starts_with("spec.");
    let mut found: Vec<_> = all.filter(|one| one[0].starts_with("llsd::config::") && !is_of_resource(one)).collect();
    found.sort();
    found
}

#[test]
fn values_and_files_are_judged_as_the_config_map_that_helm_makes_of_them() {
    for (name, put, file, least) in [
        ("yaml", "  config.yaml: |\n    {{- toYaml .Values.llamaStack.config | nindent 4 }}", "values.yaml", 4),
        ("margin", "  config.yaml: |-\n{{ .Values.llamaStack.config | toYaml | indent 4 }}", "values.yaml", 4),
        ("tpl", "  config.yaml: |\n    {{- tpl (toYaml .Values.llamaStack.config) . | nindent 4 }}", "values.yaml", 4),
        ("json", "  config.yaml: {{ .Values.llamaStack.config | toJson | quote }}", "values.yaml", 4),
        ("text", "  config.yaml: |\n    {{- .Values.text | nindent 4 }}", "values.yaml", 1),
        ("get", "  run.yaml: |\n    {{- .Files.Get \"files/run.yaml\" | nindent 4 }}", "files/run.yaml", 1),
        ("glob", "  {{- (.Files.Glob \"files/*\").AsConfig | nindent 2 }}", "files/run.yaml", 1),
        // the template does more than to write it
        (
            "merge",
            "  config.yaml: |\n    {{- toYaml (merge (dict) .Values.llamaStack.config) | nindent 4 }}",
            "values.yaml",
            0,
        ),
        (
            "with",
            "  {{- with .Values.llamaStack }}\n  config.yaml: |\n    {{- toYaml .config | nindent 4 }}\n  {{- end }}",
            "values.yaml",
            0,
        ),
    ] {
        let tree = Tree::new(&format!("helm-values-{name}"), &VALUES.replace("PUT", put));
        let helm = Command::new(helm::folder().join("helm"))
            .args(["template", "r", "chart"])
            .current_dir(&tree.0)
            .output()
            .unwrap();
        assert!(helm.status.success(), "{name}: {}", String::from_utf8_lossy(&helm.stderr));
        std::fs::write(tree.0.join("made.yaml"), helm.stdout).unwrap();
        let (made, said) = (said_of_configs(&tree, "made.yaml"), said_of_configs(&tree, &format!("chart/{file}")));
        assert!(!made.is_empty(), "{name}: {made:?}");
        let of_chart = told(&tree, &["check", "chart/templates"]).1;
        assert!(name != "glob" || of_chart.contains(": nothing wrong;"), "the keys are not known: {of_chart}");
        if least > 0 {
            assert_eq!(said, made, "{name}");
        }
        assert!(said.len() >= least && (least > 0 || said.is_empty()), "{name}: {said:?}");
    }
}

#[test]
fn what_is_wrong_with_values_is_told_and_mended_where_they_stand() {
    let put = "  config.yaml: |\n    {{- toYaml .Values.llamaStack.config | nindent 4 }}";
    let tree = Tree::new("helm-values", &VALUES.replace("PUT", put));
    let (code, said) = told(&tree, &["check", "chart"]);
    expect![[r#"
        warning[llsd::config::renamed-key]: llama-stack (0.4.7 to 0.7.3) ignores "url" of remote::vllm and exits: the key is "base_url"
          --> chart/files/run.yaml:6:65
           6 |   - {provider_id: vllm, provider_type: 'remote::vllm', config: {url: 'http://vllm:8000/v1'}}
             |                                                                 ^^^
           = fix: Rename to "base_url"

        error[llsd::config::renamed-key]: llama-stack 0.4.7 ignores "url" of remote::vllm and exits: the key is "base_url"
          --> chart/values.yaml:14:13
          14 |             url: http://vllm:8000/v1   # renamed long ago
             |             ^^^
           = fix: Rename to "base_url" (`llsd fix` does it)

        error[llsd::config::unknown-provider-type]: llama-stack 0.4.7 has no provider type "inline::fais" for API vector_io and exits. Did you mean "inline::faiss"?
          --> chart/values.yaml:19:26
          19 |           provider_type: inline::fais
             |                          ^^^^^^^^^^^^
           = fix: Change to "inline::faiss" (`llsd fix` does it)

        warning[llsd::config::unknown-key]: llama-stack 0.4.7 does not read "storge", it ignores the key. Did you mean "storage"?
          --> chart/values.yaml:20:5
          20 |     storge: {}
             |     ^^^^^^
           = fix: Rename to "storage" (`llsd fix` does it)

        remark[llsd::config::port-without-effect]: Port 8322 has no effect: the operator starts the server of resource "stack" on port 8321
          --> chart/values.yaml:21:20
          21 |     server: {port: '8322'}
             |                    ^^^^^^

        1 resource and 2 configs in 5 files: 2 errors, 2 warnings, 1 remark; 2 files have none
    "#]].assert_eq(&said);
    assert_eq!(code, 1);
    let before = std::fs::read_to_string(tree.0.join("chart/values.yaml")).unwrap();
    tree.llsd(&["fix", "chart/values.yaml"]);
    let after = std::fs::read_to_string(tree.0.join("chart/values.yaml")).unwrap();
    let fixed = before.replace("url: http", "base_url: http").replace("fais\n", "faiss\n").replace("storge", "storage");
    assert_eq!(after, fixed);
}
