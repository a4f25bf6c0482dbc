use crate::ide::support::{analyse, v1alpha2};
use expect_test::{Expect, expect};
use llsd::ide;

fn check(text: &str, expected: Expect) {
    let mut shown = String::new();
    let mut end = 0;
    for token in ide::tokens(&analyse(text), None) {
        assert!(end <= token.span.start && token.span.start < token.span.end, "{token:?}");
        end = token.span.end;
        let word = &text[token.span.start..token.span.end];
        assert!(!word.contains('\n'), "{word:?}");
        let marks = [(token.declaration, " declaration"), (token.deprecated, " deprecated")];
        let marks: String = marks.iter().filter(|(is, _)| *is).map(|(_, mark)| *mark).collect();
        shown.push_str(&format!("{word} {:?}{marks}\n", token.kind));
    }
    let shown = shown.split_once("spec Key\n").map_or(shown.as_str(), |(_, below)| below);
    expected.assert_eq(shown);
}

#[test]
fn every_kind() {
    let spec = "distribution: {name: starter}
providers:
  inference:
    - id: small
      provider: remote::vllm
      endpoint: ${env.URL:=http://x} and {{ .Values.x }}
      settings:
        max_tokens: 1
        max_tokenz: 2
  vectorIo:
    - provider: inline::meta-reference
storage:
  kv: {type: redis, other: 1}
disabled: [eval]
resources:
  models:
    - {name: a, provider: small}
workload:
  overrides:
    command:
      - |
        {{ a
        b }} ${X}
";
    check(
        &v1alpha2(spec),
        expect![[r#"
        distribution Key
        name Key
        starter Choice
        providers Key
        inference Key
        id Key
        small Id declaration
        provider Key
        remote::vllm ProviderType
        endpoint Key
        ${env.URL:=http://x} Placeholder
        {{ .Values.x }} Placeholder
        settings Key
        max_tokens Key
        max_tokenz UnknownKey
        vectorIo Key
        provider Key
        inline::meta-reference ProviderType deprecated
        storage Key
        kv Key
        type Key
        redis Choice
        other UnknownKey
        disabled Key
        eval Choice
        resources Key
        models Key
        name Key
        provider Key
        small Id
        workload Key
        overrides Key
        command Key
        {{ a Placeholder
                  b }} Placeholder
        ${X} Placeholder
    "#]],
    );
}

#[test]
fn templates_and_other_documents() {
    check(
        &v1alpha2("{{- if .x }}\ndistribution: {name: starter}\n{{- end }}\n"),
        expect![[r#"
        {{- if .x }} Placeholder
        distribution Key
        name Key
        starter Choice
        {{- end }} Placeholder
    "#]],
    );
    check("a: ${b}\n", expect![[""]]);
}
