use crate::ide::files::{Files, listed};
use crate::ide::support::v1alpha2;
use expect_test::{Expect, expect};
use llsd::ide;

fn check(query: &str, expected: Expect) {
    let resource = v1alpha2(
        "distribution:\n  name: starter\nproviders:\n  inference:\n    - provider: vllm\n      endpoint: http://a/v1\nresources:\n  models:\n    - name: meta/llama-3\n",
    );
    let text = format!(
        "{resource}#- objects.yaml\napiVersion: v1\nkind: Secret\nmetadata:\n  name: vllm-token\n  namespace: ml\n---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: demo-config\ndata:\n  run.yaml: |\n    version: 2\n    providers:\n      inference:\n        - provider_id: vllm\n          provider_type: remote::vllm\n"
    );
    let files = Files::new(&text);
    let found = files.index().search(query, 10);
    let mut lines = String::new();
    for symbol in ide::workspace_symbols(&files, &found, 10) {
        let place = listed(&[symbol.location]);
        lines.push_str(&format!("{:?} {} in {:?}: {place}", symbol.kind, symbol.name, symbol.container));
    }
    expected.assert_eq(&lines);
}

#[test]
fn names_are_found_by_some_of_their_letters() {
    check(
        "vllm",
        expect![[r#"
        Provider vllm in "demo": main.yaml 10:19-10:23 vllm *
        Provider vllm in "demo-config": objects.yaml 16:24-16:28 vllm *
        Secret vllm-token in "ml": objects.yaml 4:9-4:19 vllm-token *
    "#]],
    );
    check(
        "l3",
        expect![[r#"
        Model meta/llama-3 in "demo": main.yaml 14:15-14:27 meta/llama-3 *
    "#]],
    );
    check(
        "DemoConf",
        expect![[r#"
        ConfigMap demo-config in "": objects.yaml 10:9-10:20 demo-config *
    "#]],
    );
    check("zz", expect![[""]]);
}
