use crate::ide::support::{analyse, v1alpha2};
use expect_test::{Expect, expect};
use llsd::ide;

/// First and last line of each fold, from 1, and what it hides.
fn check(text: &str, expected: Expect) {
    let line = |offset: usize| text[..offset].matches('\n').count() + 1;
    let mut shown = String::new();
    for fold in ide::folds(&analyse(text)) {
        let first = text.lines().nth(line(fold.span.start) - 1).unwrap_or_default();
        shown.push_str(&format!("{}-{} {:?} {first}\n", line(fold.span.start), line(fold.span.end), fold.kind));
    }
    expected.assert_eq(&shown);
}

#[test]
fn values_comments_and_regions() {
    let spec = "# one
# two

# three
providers: # all
  inference:
    - provider: vllm # region: not one
      settings: {
        a: 1
      }
    - id: x
      provider: openai
  # region small ones
  safety:
    - provider: llama-guard
  #endregion
workload:
  overrides:
    command:
      - |
        set -e
        run
";
    check(
        &v1alpha2(spec),
        expect![[r#"
            3-4 Value metadata:
            5-27 Value spec:
            6-7 Comment   # one
            10-20 Value   providers: # all
            11-17 Value     inference:
            12-15 Value       - provider: vllm # region: not one
            13-15 Value         settings: {
            16-17 Value       - id: x
            18-21 Region     # region small ones
            19-20 Value     safety:
            22-27 Value   workload:
            23-27 Value     overrides:
            24-27 Value       command:
            25-27 Value         - |
        "#]],
    );
}

#[test]
fn documents_of_a_file() {
    let secret = "---\n# mine\napiVersion: v1\nkind: Secret\nstringData:\n  a: b\n";
    check(
        &(v1alpha2("") + secret),
        expect![[r#"
            1-5 Value apiVersion: llamastack.io/v1alpha2
            3-4 Value metadata:
            6-11 Value ---
            10-11 Value stringData:
        "#]],
    );
    check("a:\n  b: 1\n", expect![[""]]);
}
