use crate::ide::support::{analyse, v1alpha2};
use expect_test::expect;
use llsd::ide::{self, Symbol};

fn outline(symbols: &[Symbol], depth: usize, out: &mut String) {
    for symbol in symbols {
        assert!(symbol.span.start <= symbol.selection.start && symbol.selection.end <= symbol.span.end);
        out.push_str(&format!("{}{} {:?}", "  ".repeat(depth), symbol.name, symbol.kind));
        if !symbol.detail.is_empty() {
            out.push_str(&format!(" ({})", symbol.detail));
        }
        out.push('\n');
        outline(&symbol.children, depth + 1, out);
    }
}

#[test]
fn the_outline_names_providers_and_models() {
    let text = v1alpha2(
        "distribution:\n  name: starter\nproviders:\n  inference:\n    - id: small\n      provider: vllm\n    - provider:\nresources:\n  models:\n    - name: llama\n  tools: [websearch]\n",
    );
    let text = format!("kind: ConfigMap\n---\n{text}");
    let mut shown = String::new();
    outline(&ide::symbols(&analyse(&text)), 0, &mut shown);
    expect![[r#"
        demo Resource (LlamaStackDistribution v1alpha2)
          distribution Section
            name Field (starter)
          providers Section
            inference Section
              small Provider (vllm)
                id Field (small)
                provider Field (vllm)
              … Provider
                provider Field
          resources Section
            models Section
              llama Item
                name Field (llama)
            tools Section
              websearch Item
    "#]]
    .assert_eq(&shown);
}
