use crate::ide::support::{analyse, shown, v1alpha2};
use expect_test::{Expect, expect};
use llsd::ide::{self, LensAction};

fn check(text: &str, expected: Expect) {
    let mut lines = String::new();
    for lens in ide::lenses(&analyse(text)) {
        let action = match &lens.action {
            LensAction::References(places) => {
                let places: Vec<_> = places.iter().map(|place| shown(text, *place)).collect();
                places.join("; ")
            }
            other => format!("{other:?}"),
        };
        lines.push_str(&format!("{} | {} | {action}\n", shown(text, lens.span), lens.title));
    }
    expected.assert_eq(&lines);
}

#[test]
fn above_each_resource_and_provider() {
    let spec = "distribution: {name: starter}
providers:
  inference:
    - id: small
      provider: vllm
      endpoint: http://vllm:8000/v1
    - id: unused
      provider: openai
resources:
  models:
    - {name: a, provider: small}
    - {name: b, provider: small}
";
    let old = "---\napiVersion: v1\nkind: List\nitems:\n- apiVersion: llamastack.io/v1alpha1\n  kind: LlamaStackDistribution\n  spec: {}\n";
    check(
        &(v1alpha2(spec) + old),
        expect![[r#"
            2:7-2:29 LlamaStackDistribution | Preview config.yaml | Preview
            2:7-2:29 LlamaStackDistribution | 41 providers, 3 models | Preview
            9:13-9:18 small | 2 references | 16:29-16:34 small; 17:29-17:34 small
            22:3-22:37 apiVersion: llamastack.io/v1alpha1 | Migrate to v1alpha2 | Migrate { document: 1 }
        "#]],
    );
    // no config, no size
    check(
        &v1alpha2("distribution: {name: nope}\n"),
        expect![[r#"
        2:7-2:29 LlamaStackDistribution | Preview config.yaml | Preview
    "#]],
    );
    check("kind: Other\n", expect![[""]]);
}
