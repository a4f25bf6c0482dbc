use super::text_edits;
use expect_test::{Expect, expect};
use llsd_generator::check::{self, finding::FixEdit};
use llsd_generator::document::Plain;
use llsd_generator::path::Path;
use llsd_yaml::{edit, parse_document};
use serde_json::json;

fn change(text: &str, changes: &[FixEdit], expected: Expect) {
    let edits = text_edits(&parse_document(text), &Path::root(), changes).expect("a place for each change");
    let after = edit::apply(text, &edits);
    expected.assert_eq(&after);
}

fn path(text: &str) -> Path {
    Path::parse(text)
}

#[test]
fn single_changes() {
    let text = "a: 1 # one\nb:\n  # two\n  c: x\n  d: [1, 2]\n";
    change(
        text,
        &[FixEdit::RenameKey { path: path("b.c"), to: "e".into() }],
        expect![[r#"
        a: 1 # one
        b:
          # two
          e: x
          d: [1, 2]
    "#]],
    );
    change(
        text,
        &[FixEdit::Replace { path: path("a"), value: json!("yes") }],
        expect![[r#"
        a: "yes" # one
        b:
          # two
          c: x
          d: [1, 2]
    "#]],
    );
    change(
        text,
        &[FixEdit::Remove { path: path("b.c") }],
        expect![[r#"
        a: 1 # one
        b:
          d: [1, 2]
    "#]],
    );
    change(
        text,
        &[FixEdit::Insert { path: path("b.f.g"), value: json!({"h": true}) }],
        expect![[r#"
        a: 1 # one
        b:
          # two
          c: x
          d: [1, 2]
          f:
            g:
              h: true
    "#]],
    );
    change(
        text,
        &[FixEdit::Insert { path: path("b.d[1]"), value: json!(5) }],
        expect![[r#"
        a: 1 # one
        b:
          # two
          c: x
          d: [1, 5, 2]
    "#]],
    );
}

#[test]
fn an_entry_moves_with_its_comments() {
    let text = "spec:\n  server:\n    # why\n    # so\n    port: 80 # low\n  other: 1\n";
    change(
        text,
        &[FixEdit::Move { from: path("spec.server.port"), to: path("spec.networking.port") }],
        expect![[r#"
            spec:
              other: 1
              networking:
                # why
                # so
                port: 80 # low
        "#]],
    );
    let text = "tls:\n  secretName: a # mine\nold:\n  # all\n  x: # of\n    # deep\n    y: 1\n  z: 2\n";
    change(
        text,
        &[FixEdit::Move { from: path("old.x"), to: path("tls.w.x") }],
        expect![[r#"
            tls:
              secretName: a # mine
              w:
                # all
                x: # of
                  # deep
                  y: 1
            old:
              z: 2
        "#]],
    );
}

#[test]
fn changes_build_on_each_other() {
    let text = "a:\n  b: 1\n";
    let changes = [
        FixEdit::RenameKey { path: path("a"), to: "c".into() },
        FixEdit::Insert { path: path("c.d"), value: json!("x") },
        FixEdit::Remove { path: path("c.b") },
    ];
    change(
        text,
        &changes,
        expect![[r#"
        c:
          d: x
    "#]],
    );
}

#[test]
fn drafts_keep_their_comments() {
    let text = "apiVersion: llamastack.io/v1alpha2
kind: LlamaStackDistribution
metadata:
  name: draft
spec:
  distribution:
    name: starter
  providers:
    # one server
    inference: # only this
      # the type
      provider: vllm # fast
      host: http://vllm:8000/v1
      apiKey:
        # rotated monthly
        name: vllm
        key: token # ours
  resources:
    models:
      # small
      - \"llama\" # enough
  networking:
    # open
    expose: true
";
    // one after the other, as a person would accept them
    let mut after = text.to_owned();
    for _ in 0..10 {
        let now = parse_document(&after);
        let findings = check::drafts(&Plain::read(&now).value);
        let Some(finding) = findings.first() else { break };
        let edits = text_edits(&now, &Path::root(), &finding.fixes[0].edits).expect("a place for each change");
        after = edit::apply(&after, &edits);
    }
    assert!(check::drafts(&Plain::read(&parse_document(&after)).value).is_empty(), "{after}");
    expect![[r#"
        apiVersion: llamastack.io/v1alpha2
        kind: LlamaStackDistribution
        metadata:
          name: draft
        spec:
          distribution:
            name: starter
          providers:
            # one server
            inference: # only this
              # the type
              - provider: vllm # fast
                endpoint: http://vllm:8000/v1
                apiKey:
                  secretKeyRef:
                    # rotated monthly
                    name: vllm
                    key: token # ours
          resources:
            models:
              # small
              - name: "llama" # enough
          networking:
            # open
            expose: {}
    "#]]
    .assert_eq(&after);
}
