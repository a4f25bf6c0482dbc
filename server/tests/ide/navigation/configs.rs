//! Names of configs: in a ConfigMap, in a file of their own.

use super::{definition, highlight, references};
use expect_test::expect;

pub(super) const CONFIG: &str = "\
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

pub(super) const LEGACY: &str = "\
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
