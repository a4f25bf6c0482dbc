use crate::ide::support::{analyse, apply, v1alpha2};
use expect_test::{Expect, expect};
use llsd::ide::{self, InlaySettings, Span};

/// The text with its hints in `«»`.
fn check(text: &str, settings: &InlaySettings, expected: Expect) {
    let hints = ide::inlay_hints(&analyse(text), Span::new(0, text.len()), settings);
    let mut shown = text.to_owned();
    for hint in hints.iter().rev() {
        let gap = if hint.behind { " " } else { "" };
        shown.insert_str(hint.offset, &format!("{gap}«{}»", hint.label));
    }
    let below = shown.find("spec:").unwrap_or(0);
    expected.assert_eq(&shown[below..]);
}

const SPEC: &str = "distribution:
  name: starter # ours
providers:
  inference:
    - provider: vllm
      apiKey:
        secretKeyRef: {name: a, key: b}
    - id: other
      provider: remote::openai
  safety:
    - provider: llama-guard
      secretRefs:
        x-y:
          secretKeyRef: {name: a, key: b}
storage:
  sql:
    type: postgres
    connectionString:
      secretKeyRef: {name: pg, key: url}
networking:
  expose: {}
";

#[test]
fn all_hints() {
    check(
        &v1alpha2(SPEC),
        &InlaySettings::default(),
        expect![[r#"
        spec:
          distribution:
            name: starter «docker.io/llamastack/distribution-starter:0.4.7» # ours
          providers:
            inference:
              - provider: «remote::»vllm «id: vllm»
                apiKey: «LLSD_VLLM_API_KEY»
                  secretKeyRef: {name: a, key: b}
              - id: other
                provider: remote::openai
            safety:
              - provider: «inline::»llama-guard «id: llama-guard»
                secretRefs:
                  x-y: «LLSD_LLAMA_GUARD_X_Y»
                    secretKeyRef: {name: a, key: b}
          storage:
            sql:
              type: postgres
              connectionString:
                secretKeyRef: {name: pg, key: url}
          networking: «port: 8321»
            expose: {}
    "#]],
    );
    let none = InlaySettings { implicit_id: false, provider_type: false, variable: false, port: false, image: false };
    assert!(ide::inlay_hints(&analyse(&v1alpha2(SPEC)), Span::new(0, 9999), &none).is_empty());
}

#[test]
fn stores_once_a_config_is_generated() {
    let spec = SPEC.replace(
        "    - provider: vllm\n",
        "    - id: vllm\n      provider: vllm\n      endpoint: http://vllm:8000/v1\n",
    );
    let spec = spec.replace("      secretRefs:\n        x-y:\n          secretKeyRef: {name: a, key: b}\n", "");
    let only = InlaySettings { implicit_id: false, provider_type: false, port: false, image: false, variable: true };
    check(
        &v1alpha2(&spec),
        &only,
        expect![[r#"
            spec:
              distribution:
                name: starter # ours
              providers:
                inference:
                  - id: vllm
                    provider: vllm
                    endpoint: http://vllm:8000/v1
                    apiKey: «LLSD_VLLM_API_KEY»
                      secretKeyRef: {name: a, key: b}
                  - id: other
                    provider: remote::openai
                safety:
                  - provider: llama-guard
              storage:
                sql:
                  type: postgres
                  connectionString: «LLSD_STORAGE_SQL_HOST, …»
                    secretKeyRef: {name: pg, key: url}
              networking:
                expose: {}
        "#]],
    );
}

#[test]
fn nothing_where_it_is_said_or_not_known() {
    let text = v1alpha2(
        "distribution: {image: \"x/y:1\"}\nproviders:\n  inference:\n    - provider: ${P}\n    - provider: {{ x }}\nnetworking: {port: 80}\n",
    );
    check(
        &text,
        &InlaySettings::default(),
        expect![[r#"
        spec:
          distribution: {image: "x/y:1"}
          providers:
            inference:
              - provider: ${P}
              - provider: {{ x }}
          networking: {port: 80}
    "#]],
    );
    check(
        "apiVersion: llamastack.io/v1alpha1\nkind: LlamaStackDistribution\nspec:\n  server:\n    distribution: {name: starter}\n",
        &InlaySettings::default(),
        expect![[r#"
            spec:
              server:
                distribution: {name: starter «docker.io/llamastack/distribution-starter:0.4.7»}
        "#]],
    );
}

#[test]
fn accepting_a_hint_says_the_same() {
    let text = v1alpha2(
        "distribution: {name: starter}\nproviders:\n  inference:\n    # why\n    - provider: vllm # here\n      endpoint: http://vllm:8000/v1\n",
    );
    let before = ide::preview(&analyse(&text), 0).unwrap().text;
    let mut accepted = 0;
    for hint in ide::inlay_hints(&analyse(&text), Span::new(0, text.len()), &InlaySettings::default()) {
        if !hint.edits.is_empty() {
            let new = apply(&text, &hint.edits);
            assert_eq!(ide::preview(&analyse(&new), 0).unwrap().text, before, "{new}");
            assert!(new.contains("# why\n") && new.contains("# here\n"), "{new}");
            accepted += 1;
        }
    }
    assert_eq!(accepted, 2);
}
