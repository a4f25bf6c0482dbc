use crate::ide::support::{analyse, cursor, shown, v1alpha2};
use expect_test::{Expect, expect};
use llsd::ide;

fn check(text: &str, expected: Expect) {
    let (text, at) = cursor(text);
    let places = ide::linked_places(&analyse(&text), at).unwrap_or_default();
    let lines: Vec<_> = places.into_iter().map(|span| shown(&text, span) + "\n").collect();
    expected.assert_eq(&lines.concat());
}

const SPEC: &str = "providers:
  inference:
    - id: small
      provider: vllm
    - id: large
      provider: vllm
    - provider: openai
resources:
  models:
    - {name: a, provider: small}
    - name: b
      provider: 'small'
    - {name: c, provider: openai}
";

#[test]
fn an_id_and_its_references() {
    let expected = expect![[r#"
        8:13-8:18 small
        15:29-15:34 small
        17:20-17:25 small
    "#]];
    check(&v1alpha2(&SPEC.replacen("id: small", "id: sm$0all", 1)), expected);
    let expected = expect![[r#"
        8:13-8:18 small
        15:29-15:34 small
        17:20-17:25 small
    "#]];
    check(&v1alpha2(&SPEC.replacen("'small'", "'$0small'", 1)), expected);
}

#[test]
fn nothing_where_the_places_do_not_belong_together() {
    // only one place
    check(&v1alpha2(&SPEC.replacen("id: large", "id: $0large", 1)), expect![[""]]);
    // the id follows from the type, which is another thing
    check(&v1alpha2(&SPEC.replacen("provider: openai}", "provider: $0openai}", 1)), expect![[""]]);
    // two declare it
    check(&v1alpha2(&SPEC.replacen("id: large", "id: $0small", 1)), expect![[""]]);
    // an escape hides the letters
    check(&v1alpha2(&SPEC.replacen("'small'", "\"$0sm\\u0061ll\"", 1)), expect![[""]]);
    check(&v1alpha2(&SPEC.replacen("- name: b", "- name: $0b", 1)), expect![[""]]);
}
