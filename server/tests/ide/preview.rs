use crate::ide::support::{analyse, shown, v1alpha2};
use expect_test::expect;
use llsd::ide::{self, OriginKind};

#[test]
fn every_line_has_an_origin() {
    let text = v1alpha2(
        "distribution:\n  name: starter\nproviders:\n  inference:\n    - provider: vllm\n      endpoint: http://vllm:8000/v1\n      apiKey:\n        secretKeyRef:\n          name: vllm\n          key: token\n",
    );
    let preview = ide::preview(&analyse(&text), 0).unwrap();
    assert_eq!(preview.text.lines().count(), preview.lines.len());
    assert_eq!(preview.hash.len(), 64);
    let mut found = String::new();
    for (line, origin) in preview.text.lines().zip(&preview.lines) {
        if origin.kind == OriginKind::Resource {
            let place = origin.source_span.map(|span| shown(&text, span)).unwrap_or_default();
            found.push_str(&format!("{line}  <- {} at {place}\n", origin.path));
        }
    }
    for variable in &preview.env {
        found.push_str(&format!("{} = {} ({})\n", variable.name, variable.source, variable.path));
    }
    expect![[r#"
          - provider_id: vllm  <- spec.providers.inference[0].provider at 10:9-10:17 provider
            provider_type: remote::vllm  <- spec.providers.inference[0].provider at 10:9-10:17 provider
            config:  <- spec.providers.inference[0] at 10:9-10:23 provider: vllm
              base_url: http://vllm:8000/v1  <- spec.providers.inference[0].endpoint at 11:9-11:17 endpoint
              api_token: ${env.LLSD_VLLM_API_KEY}  <- spec.providers.inference[0].apiKey at 12:9-12:15 apiKey
        LLSD_VLLM_API_KEY = Secret vllm, key token (spec.providers.inference[0].apiKey)
    "#]]
    .assert_eq(&found);
}

#[test]
fn where_nothing_is_generated_the_preview_says_why() {
    let older = "apiVersion: llamastack.io/v1alpha1\nkind: LlamaStackDistribution\nmetadata:\n  name: a\nspec:\n  server:\n    distribution:\n      name: starter\n";
    let preview = |text: &str| ide::preview(&analyse(text), 0).map(|preview| preview.text);
    expect![[r#"
        # A v1alpha1 resource generates no config: migrate it to v1alpha2.
    "#]]
    .assert_eq(&preview(older).unwrap());
    expect![[r#"
        # The base config is in the labels of the image, which are read in the cluster only: give it with --base, or in llsd.toml.
    "#]]
    .assert_eq(
        &preview(&v1alpha2("distribution:\n  image: a/b:0.4.7\nproviders:\n  inference:\n    - provider: vllm\n"))
            .unwrap(),
    );
    expect![[r#"
        # No config while this is wrong: expected an object, found an integer
    "#]]
    .assert_eq(&preview(&v1alpha2("distribution: 5\n")).unwrap());
    assert_eq!(preview("a: b\n"), None);
}

#[test]
fn each_resource_of_a_list_has_its_own_preview() {
    let item = |name: &str, provider: &str| {
        format!(
            "  - apiVersion: llamastack.io/v1alpha2\n    kind: LlamaStackDistribution\n    metadata:\n      name: {name}\n    spec:\n      distribution:\n        name: starter\n      providers:\n        inference:\n          - provider: {provider}\n            endpoint: http://{name}:8000/v1\n"
        )
    };
    let text = format!("apiVersion: v1\nkind: List\nitems:\n{}{}", item("one", "vllm"), item("two", "tgi"));
    let analysis = analyse(&text);
    let at = |needle: &str| analysis.resource_at(text.find(needle).unwrap());
    assert_eq!(at("kind: List"), Some((0, 0)));
    assert_eq!(at("name: one"), Some((0, 0)));
    assert_eq!(at("- apiVersion"), Some((0, 0)));
    let second = text.rfind("  - apiVersion").unwrap();
    assert_eq!(analysis.resource_at(second), Some((0, 1)));
    assert_eq!(at("provider: tgi"), Some((0, 1)));
    let name = |number: usize| ide::preview_of(&analysis, 0, number).map(|preview| preview.name);
    assert_eq!(name(0).as_deref(), Some("one"));
    assert_eq!(name(1).as_deref(), Some("two"));
    assert_eq!(name(2), None);
}
