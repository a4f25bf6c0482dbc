use crate::ide::support::{analyse, apply, shown, v1alpha2};
use expect_test::{Expect, expect};
use llsd::ide::{self, Workspace};

fn check(text: &str, expected: Expect) {
    let mut out = String::new();
    for found in analyse(text).diagnostics() {
        out.push_str(&format!("{} {:?}[{}] {}\n", shown(text, found.span), found.severity, found.code, found.message));
        for (span, message) in &found.related {
            out.push_str(&format!("    {} {message}\n", shown(text, *span)));
        }
        for fix in &found.fixes {
            let preferred = if fix.preferred { "fix" } else { "offer" };
            out.push_str(&format!("    {preferred}: {}\n", fix.title));
        }
    }
    expected.assert_eq(&out);
}

#[test]
fn other_documents_are_left_alone() {
    check("a: [\n---\nb: c: d\n", expect![[""]]);
    check("", expect![[""]]);
}

#[test]
fn an_older_group() {
    check(
        "apiVersion: llama.meta.com/v1alpha1\nkind: LlamaStackDistribution\nmetadata: {name: a}\nspec:\n  server:\n    distribution: {name: starter}\n",
        expect![[r#"
            1:13-1:36 llama.meta.com/v1alpha1 Error[llsd::kind::wrong-group] API group "llama.meta.com" does not have the kind LlamaStackDistribution: it is in llamastack.io/v1alpha1
                fix: Change to "llamastack.io/v1alpha1"
        "#]],
    );
}

#[test]
fn a_half_written_header() {
    check(
        "apiVersion: llamastack.io/v1alpha2\nmetadata: {name: a}\nspec:\n  distribution: {name: starter}\n",
        expect![[r#"
        1:13-1:35 llamastack.io/v1alpha2 Error[llsd::kind::unknown-kind] kind is missing
            fix: Add kind: LlamaStackDistribution
    "#]],
    );
}

#[test]
fn a_missing_field_is_drawn_at_its_parent() {
    check(
        &v1alpha2("distribution:\n  name: starter\nproviders:\n  inference:\n    - endpoint: http://a/v1\n"),
        expect![[r#"
            10:9-10:30 endpoint: http://a/v1 Error[llsd::schema::required] missing required field "provider"
        "#]],
    );
}

#[test]
fn a_break_hides_nothing() {
    let text = v1alpha2(
        "distribution:\n  name: stater\nproviders:\n  inference:\n    - provider: [vllm\nresources:\n  tols: []\n",
    );
    check(
        &text,
        expect![[r#"
            7:11-7:17 stater Error[llsd::distribution::unknown] Unknown distribution "stater". Available distributions: starter, remote-vllm, meta-reference-gpu, postgres-demo
                offer: Change to "starter"
            10:19-10:20 [ Error[llsd::yaml::syntax] this bracket is not closed
            12:5-12:9 tols Error[llsd::schema::unknown-field] unknown field "tols"; did you mean "tools"?
                fix: Rename "tols" to "tools"
        "#]],
    );
}

#[test]
fn keys_given_twice() {
    check(
        &v1alpha2("distribution:\n  name: starter\n  name: starter\n"),
        expect![[r#"
            8:5-8:9 name Error[llsd::yaml::duplicate-key] The key "name" is given twice, the first one has no effect
        "#]],
    );
}

#[test]
fn inside_lists_and_templates() {
    let item = "  apiVersion: llamastack.io/v1alpha2\n  kind: LlamaStackDistribution\n  metadata: {name: a}\n  spec: {distribution: {name: strter}}\n";
    check(
        &format!("apiVersion: v1\nkind: List\nitems:\n-{}", &item[1..]),
        expect![[r#"
        7:31-7:37 strter Error[llsd::distribution::unknown] Unknown distribution "strter". Available distributions: starter, remote-vllm, meta-reference-gpu, postgres-demo
            offer: Change to "starter"
    "#]],
    );
    check(
        &format!("apiVersion: template.openshift.io/v1\nkind: Template\nobjects:\n-{}", &item[1..]),
        expect![[r#"
        7:31-7:37 strter Error[llsd::distribution::unknown] Unknown distribution "strter". Available distributions: starter, remote-vllm, meta-reference-gpu, postgres-demo
            offer: Change to "starter"
    "#]],
    );
}

#[test]
fn templates_are_unknown_not_wrong() {
    check(
        &v1alpha2(
            "distribution:\n  name: {{ .Values.name }}\nproviders:\n  inference:\n    - provider: ${PROVIDER}\n{{- if .Values.x }}\nresources:\n  models:\n    - name: ${MODEL}\n{{- end }}\n",
        ),
        expect![""],
    );
}

#[test]
fn hostile_texts_are_bounded() {
    let mut bomb = v1alpha2("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for level in 1..20 {
        let inner = format!("*a{}", level - 1);
        bomb.push_str(&format!("  a{level}: &a{level} [{}]\n", [inner.as_str(); 9].join(", ")));
    }
    let text = analyse(&bomb);
    assert!(text.diagnostics().iter().any(|found| found.code == "llsd::yaml::too-large"));
    for text in [v1alpha2(&"[".repeat(50_000)), v1alpha2(&format!("distribution: {}", "x".repeat(1_000_000)))] {
        let analysis = analyse(&text);
        assert!(analysis.diagnostics().len() < 1000);
        assert!(ide::complete(&analysis, text.len()).len() < 1000);
        assert!(ide::hover(&analysis, text.len() / 2).is_none_or(|found| found.markdown.len() < 10_000));
        assert_eq!(ide::symbols(&analysis).len(), 1);
    }
}

#[test]
fn preferred_fixes_mend_what_they_speak_of() {
    let text = "# a draft\napiVersion: llama.meta.com/v1alpha1 # old\nkind: LlamaStackDistribution\nmetadata:\n  name: a\nspec:\n  server:\n    distribution:\n      name: starter\n";
    let fixed = apply(text, &ide::fix_all(&analyse(text)));
    expect![[r#"
        # a draft
        apiVersion: llamastack.io/v1alpha1 # old
        kind: LlamaStackDistribution
        metadata:
          name: a
        spec:
          server:
            distribution:
              name: starter
    "#]]
    .assert_eq(&fixed);
    assert!(analyse(&fixed).diagnostics().is_empty());
}

#[test]
fn objects_of_the_file_and_the_workspace_are_known() {
    let text = v1alpha2(
        "distribution:\n  name: starter\nproviders:\n  inference:\n    - provider: openai\n      apiKey:\n        secretKeyRef: {name: openai, key: token}\n",
    );
    let secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: openai}\nstringData: {key: x}\n";
    check(&text, expect![[""]]);
    check(
        &format!("{text}---\n{secret}"),
        expect![[r#"
        12:45-12:50 token Error[llsd::reference::no-key] Secret "openai" has no key "token". Referenced by: spec.providers.inference[0].apiKey.secretKeyRef.key
    "#]],
    );
    let mut workspace = Workspace::new();
    let before = ide::analyse(text.as_str().into(), None, &workspace);
    workspace.set("secret.yaml", analyse(secret).objects());
    let after = ide::analyse(text.as_str().into(), Some(&before), &workspace);
    assert_eq!((before.diagnostics().len(), after.diagnostics().len()), (0, 1));
    // Which of two is meant only their author knows; and one of another namespace is another one.
    workspace.set("other.yaml", analyse(secret).objects());
    assert!(ide::analyse(text.as_str().into(), None, &workspace).diagnostics().is_empty());
    workspace.set("other.yaml", Default::default());
    workspace.set("secret.yaml", analyse(&secret.replace("name: openai", "name: openai, namespace: a")).objects());
    assert!(ide::analyse(text.as_str().into(), None, &workspace).diagnostics().is_empty());
}

#[test]
fn quotes_inside_a_template_expression_end_nothing() {
    check(&v1alpha2("distribution:\n  name: \"{{ printf \"%s-%s\" .Values.a .Values.b }}\"\n"), expect![[""]]);
}

#[test]
fn an_edit_changes_only_its_document() {
    let one = v1alpha2("distribution:\n  name: starter\n").replace("demo", "one");
    let two = v1alpha2("distribution:\n  name: starter\n").replace("demo", "two");
    let before = format!("{one}---\n{two}");
    let first = ide::analyse(before.as_str().into(), None, &Workspace::new());
    let broken = before.replacen("starter", "strter", 1);
    let second = ide::analyse(broken.as_str().into(), Some(&first), &Workspace::new());
    let fresh = ide::analyse(broken.as_str().into(), None, &Workspace::new());
    assert_eq!(second.diagnostics(), fresh.diagnostics());
    assert_eq!(second.diagnostics().len(), 1);
    // a third document in between moves the second one on
    let longer = broken.replacen("---\n", &format!("---\n{}---\n", one.replace("one", "three")), 1);
    let third = ide::analyse(longer.as_str().into(), Some(&second), &Workspace::new());
    assert_eq!(third.diagnostics(), ide::analyse(longer.as_str().into(), None, &Workspace::new()).diagnostics());
}

/// `n` is a boolean to Kubernetes, also as a key: the fault is on its line, not on that of the key above.
#[test]
fn a_key_that_is_read_as_something_else_is_found() {
    let text = v1alpha2("distribution:\n  name: starter\nworkload:\n  n: 1\n");
    let analysis = analyse(&text);
    let places: Vec<&str> = analysis.diagnostics().iter().map(|one| &text[one.span.start..one.span.end]).collect();
    assert_eq!(places, ["n"]);
}

/// A provider whose id a template fills in may be the one that a model names.
#[test]
fn an_external_provider_with_an_unknown_id_may_be_any() {
    let text = v1alpha2(
        "distribution:\n  name: starter\nexternalProviders:\n  inference:\n    - providerId: {{ .Values.id }}\n      image: \
         registry.example.com/house:1\nresources:\n  models:\n    - name: m\n      provider: house\n",
    );
    let codes: Vec<_> = analyse(&text).diagnostics().iter().map(|one| one.code).collect();
    assert_eq!(codes, Vec::<&str>::new());
}
