use crate::support::{analyse, apply};
use expect_test::{Expect, expect};
use llsd::ide::{self, Span};

/// The text after the action of this title, asked for at its beginning.
fn after(text: &str, title: &str) -> String {
    let actions = ide::code_actions(&analyse(text), Span::new(0, text.len()));
    let titles: Vec<_> = actions.iter().map(|action| action.title.as_str()).collect();
    let action = actions.iter().find(|action| action.title == title).unwrap_or_else(|| panic!("{titles:?}"));
    apply(text, &action.edits)
}

fn migrated(text: &str, expected: Expect) {
    let new = after(text, "Migrate to v1alpha2");
    expected.assert_eq(&new);
    let errors: Vec<_> = analyse(&new).diagnostics().into_iter().map(|found| found.message).collect();
    assert!(errors.is_empty(), "{errors:?}");
}

#[test]
fn migration_keeps_comments_and_formatting() {
    migrated(
        "# Our server.
apiVersion: llamastack.io/v1alpha1 # for now
kind: LlamaStackDistribution
metadata:
  name: old # short
  labels: {team: 'a', tier: \"b\"}
spec:
  # enough for the team
  replicas: 2
  server:
    distribution:
      name: starter # all providers
    containerSpec:
      # behind the proxy
      port: 8400
      resources:
        limits:
          # measured
          memory: \"8Gi\"
      env:
        # one per line
        - name: LOG_LEVEL # loud
          value: debug
        - {name: OTHER, value: 'x'}
      command:
      - /bin/sh
      - -c
      - |
        set -e
        exec llama stack run
    storage:
      size: 20Gi # grows
  network:
    # reachable
    exposeRoute: true
# the end
",
        expect![[r##"
            # Our server.
            apiVersion: llamastack.io/v1alpha2 # for now
            kind: LlamaStackDistribution
            metadata:
              name: old # short
              labels: {team: 'a', tier: "b"}
            spec:
              distribution:
                name: starter # all providers
              networking:
                # behind the proxy
                port: 8400
                # reachable
                expose: {}
              workload:
                # enough for the team
                replicas: 2
                resources:
                  limits:
                    # measured
                    memory: "8Gi"
                storage:
                  size: 20Gi # grows
                overrides:
                  env:
                    # one per line
                    - name: LOG_LEVEL # loud
                      value: debug
                    - {name: OTHER, value: 'x'}
                  command:
                  - /bin/sh
                  - -c
                  - |
                    set -e
                    exec llama stack run
            # the end
        "##]],
    );
}

#[test]
fn migration_inside_a_list() {
    migrated(
        "apiVersion: v1\nkind: List\nitems:\n  - apiVersion: llamastack.io/v1alpha1\n    kind: LlamaStackDistribution\n    metadata: {name: a}\n    spec:\n      # few\n      replicas: 1\n      server:\n        distribution: {name: starter}\n  - apiVersion: v1\n    kind: Secret\n",
        expect![[r#"
            apiVersion: v1
            kind: List
            items:
              - apiVersion: llamastack.io/v1alpha2
                kind: LlamaStackDistribution
                metadata: {name: a}
                # few
                spec:
                  distribution: {name: starter}
              - apiVersion: v1
                kind: Secret
        "#]],
    );
}

#[test]
fn a_broken_document_is_not_migrated() {
    let text = "apiVersion: llamastack.io/v1alpha1\nkind: LlamaStackDistribution\nspec:\n  server: {distribution: {name: starter}\n";
    assert!(ide::migrate(&analyse(text), 0).is_none());
}
