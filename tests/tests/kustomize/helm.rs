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
