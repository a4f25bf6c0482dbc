use crate::ide::support::{analyse, apply, v1alpha2};
use expect_test::{Expect, expect};
use llsd::ide::{self, FormatOptions, Span};

fn formatted(text: &str, range: Option<Span>, options: &FormatOptions) -> String {
    let edits = ide::format(&analyse(text), range, options);
    for edit in &edits {
        let blank = |text: &str| text.chars().all(|char| matches!(char, ' ' | '\t' | '\n' | '\r'));
        assert!(blank(&edit.new_text) && blank(&text[edit.span.start..edit.span.end]), "{edit:?}");
    }
    let once = apply(text, &edits);
    if range.is_none() {
        let again = ide::format(&analyse(&once), None, options);
        assert!(again.is_empty(), "not idempotent:\n{once}\n{again:?}");
    }
    once
}

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&formatted(text, None, &FormatOptions::default()));
}

const MESSY: &str = "# ours   \napiVersion: llamastack.io/v1alpha2\nkind:   LlamaStackDistribution\nmetadata:\n    name: messy  \n    # labels\n    labels: {a: b,\n        c: d}\n\n\n\nspec:\n    distribution: # one\n          name: starter\n    providers:\n    # why\n      inference:\n          # first\n          -   id: a   # id\n              provider: vllm # and type\n              settings:\n                  allowed_models:\n                       - x\n                       -\n                         y\n          - id: b\n            provider: 'vllm'\n          # behind the last\n    # below providers\n      # odd\n    workload:\n      overrides:\n         command: [ \"sh\",\n            \"-c\" ]\n         args:\n            - |\n                  #!/bin/sh\n                    deeper  \n\n                  exit\n            - >-\n              folded\n              text\n            - \"quoted\n              text\"\n            - plain\n                text\n\n\n";

#[test]
fn a_messy_resource() {
    check(
        MESSY,
        expect![[r##"
        # ours
        apiVersion: llamastack.io/v1alpha2
        kind:   LlamaStackDistribution
        metadata:
          name: messy
          # labels
          labels: {a: b,
              c: d}

        spec:
          distribution: # one
            name: starter
          providers:
            # why
            inference:
              # first
              - id: a   # id
                provider: vllm # and type
                settings:
                  allowed_models:
                    - x
                    -
                      y
              - id: b
                provider: 'vllm'
              # behind the last
          # below providers
            # odd
          workload:
            overrides:
              command: [ "sh",
                 "-c" ]
              args:
                - |
                  #!/bin/sh
                    deeper  

                  exit
                - >-
                  folded
                  text
                - "quoted
                  text"
                - plain
                    text
    "##]],
    );
}

#[test]
fn lists_stay_in_the_column_of_their_key_where_most_do() {
    let text = v1alpha2(
        "providers:\n  inference:\n  -  provider: vllm\n     id: a\n  - provider: vllm\n    id: b\nresources:\n  models:\n  - name: x\ndisabled:\n    - eval\n",
    );
    check(
        &text,
        expect![[r#"
        apiVersion: llamastack.io/v1alpha2
        kind: LlamaStackDistribution
        metadata:
          name: demo
        spec:
          providers:
            inference:
            - provider: vllm
              id: a
            - provider: vllm
              id: b
          resources:
            models:
            - name: x
          disabled:
          - eval
    "#]],
    );
}

#[test]
fn the_editors_wishes() {
    let text = "apiVersion: llamastack.io/v1alpha2\nkind: LlamaStackDistribution\nspec:\n  distribution:\n    name: starter  \n  disabled:\n    - eval";
    let as_asked = |options: FormatOptions| formatted(text, None, &options);
    let none = FormatOptions { indent: 2, trim_trailing: false, final_newline: false, trim_final_newlines: false };
    assert_eq!(as_asked(none), text);
    expect![[r#"
        apiVersion: llamastack.io/v1alpha2
        kind: LlamaStackDistribution
        spec:
            distribution:
                name: starter
            disabled:
                - eval
    "#]]
    .assert_eq(&as_asked(FormatOptions { indent: 4, ..FormatOptions::default() }));
    let blank = format!("{text}\n\n\n");
    let options = FormatOptions { trim_final_newlines: false, ..FormatOptions::default() };
    assert!(formatted(&blank, None, &options).ends_with("- eval\n\n"));
    // beyond what is a style of YAML
    assert!(as_asked(FormatOptions { indent: 0, ..FormatOptions::default() }).contains("\n  distribution:"));
    assert!(as_asked(FormatOptions { indent: 1000, ..FormatOptions::default() }).contains("\n        distribution:"));
}

#[test]
fn only_documents_that_we_know() {
    let other = "a:\n      b: 1   \n";
    assert_eq!(formatted(other, None, &FormatOptions::default()), other);
    let text = format!(
        "{other}---\n{}---\napiVersion: v1\nkind: Secret\nmetadata:\n    name: x\n",
        v1alpha2("disabled:\n      - eval  \n")
    );
    let after = formatted(&text, None, &FormatOptions::default());
    assert!(after.starts_with(other), "{after}");
    assert!(after.contains("  disabled:\n    - eval\n"), "{after}");
    assert!(after.ends_with("metadata:\n  name: x\n"), "{after}");
}

#[test]
fn broken_texts_and_templates_are_left_alone() {
    for spec in [
        "disabled:\n      - eval  \nx: [\n",
        "disabled:\n      - {{ .Values.api }}  \n",
        "{{- if .Values.x }}\ndisabled:\n      - eval  \n{{- end }}\n",
        "disabled:\n\t- eval  \n",
        "disabled:\n      - eval  \n<<<<<<< HEAD\n",
    ] {
        let text = v1alpha2(spec);
        assert_eq!(formatted(&text, None, &FormatOptions::default()), text);
    }
}

#[test]
fn a_range_changes_nothing_outside() {
    let text = "apiVersion: llamastack.io/v1alpha2\nkind: LlamaStackDistribution\nspec:\n    distribution:\n          name: starter\n    providers:\n          inference:\n                - provider: vllm   \n                  settings:\n                          max_tokens: 1\n    workload:\n          replicas: 1\n";
    let start = text.find("inference").unwrap();
    let end = text.find("    workload").unwrap();
    expect![[r#"
        apiVersion: llamastack.io/v1alpha2
        kind: LlamaStackDistribution
        spec:
            distribution:
                  name: starter
            providers:
              inference:
                - provider: vllm
                  settings:
                    max_tokens: 1
            workload:
                  replicas: 1
    "#]]
    .assert_eq(&formatted(text, Some(Span::new(start, end)), &FormatOptions::default()));
    // an empty range is its line
    let at = text.find("vllm").unwrap();
    let after = formatted(text, Some(Span::new(at, at)), &FormatOptions::default());
    assert_eq!(after, text.replace("vllm   \n", "vllm\n"));
}

#[test]
fn line_breaks_and_marks_stay() {
    let text = format!("\u{feff}{}", MESSY.replace('\n', "\r\n"));
    let after = formatted(&text, None, &FormatOptions::default());
    assert!(after.starts_with("\u{feff}# ours\r\napiVersion"), "{after:?}");
    assert_eq!(after.matches('\n').count(), after.matches("\r\n").count());
    let plain = formatted(MESSY, None, &FormatOptions::default());
    assert_eq!(after.trim_start_matches('\u{feff}').replace("\r\n", "\n"), plain);
}

#[test]
fn comments_in_columns_stay_in_columns() {
    let text = v1alpha2(
        "distribution:   # first\n    name: starter # second\nnetworking:\n    port: 8321      # a\n    expose: {}      # b\n",
    );
    check(
        &text,
        expect![[r#"
        apiVersion: llamastack.io/v1alpha2
        kind: LlamaStackDistribution
        metadata:
          name: demo
        spec:
          distribution:   # first
            name: starter # second
          networking:
            port: 8321      # a
            expose: {}      # b
    "#]],
    );
}

#[test]
fn samples_are_formatted_already() {
    for sample in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../samples")).unwrap() {
        let path = sample.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(formatted(&text, None, &FormatOptions::default()), text, "{}", path.display());
    }
}
