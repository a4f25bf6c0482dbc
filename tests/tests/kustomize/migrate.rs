//! A migration and kustomizations: what is built before and after means the same.

use super::trees::{BASE, Becomes, TREES};
use super::{Tree, documents};
use llsd_generator::check::Facts;
use llsd_generator::fold::{self, Options, UserConfig};
use serde_json::Value;

/// Whether a resource is as it was, or means the same in the newer version: as a migration of it alone makes it, or, with
/// its variables where they were, in its environment and every field.
fn means_the_same(was: &Value, is: &Value) -> bool {
    let alone =
        || fold::migrate_with(was, &Facts::default(), UserConfig::NotHere, Options::default()).map(|done| done.value);
    let is_newer = was["apiVersion"] == "llamastack.io/v1alpha1" && is["apiVersion"] == "llamastack.io/v1alpha2";
    was == is
        || is_newer
            && was["metadata"] == is["metadata"]
            && (alone().is_ok_and(|value| value == *is) || fold::differences(was, is).is_empty())
}

#[test]
fn what_is_built_means_the_same_before_and_after() {
    let mut overlays = 0;
    for (name, builds, fixture, becomes) in TREES {
        let tree = Tree::new(&format!("migrate-{name}"), &format!("{BASE}{fixture}"));
        let before: Vec<String> = builds.iter().map(|folder| tree.build(folder).unwrap()).collect();
        let files = tree.files();
        let ran = tree.llsd(&["migrate", ".", "--write"]);
        let said = String::from_utf8(ran.stderr).unwrap();
        for (folder, before) in builds.iter().zip(&before) {
            overlays += 1;
            let after = tree.build(folder).unwrap_or_else(|error| panic!("{name}/{folder}: {error}\n{said}"));
            let (was, is) = (documents(before), documents(&after));
            let same = was.len() == is.len() && was.iter().zip(&is).all(|(was, is)| means_the_same(was, is));
            assert!(same, "{name}/{folder}: something else is built\n{said}\nbefore:\n{before}\nafter:\n{after}");
        }
        match becomes {
            Becomes::Migrated => {
                assert_eq!(ran.status.code(), Some(0), "{name}: {said}");
                let old = |(_, text): &&(_, String)| text.contains("v1alpha1") && !text.contains("kind: Component");
                assert!(!tree.files().iter().any(|file| old(&file)), "{name}: {said}\n{:#?}", tree.files());
            }
            Becomes::Left(why) => {
                assert_eq!(ran.status.code(), Some(1), "{name}: {said}");
                assert!(said.contains("not migrated: ") && said.contains(why), "{name}: {said}");
                assert_eq!(tree.files(), files, "{name}: something was written\n{said}");
            }
        }
    }
    let left = TREES.iter().filter(|(.., becomes)| *becomes != Becomes::Migrated).count();
    assert!(TREES.len() >= 40 && left <= 11, "{left} of {} trees are left", TREES.len());
    println!("{} trees, {overlays} overlays: {} migrated, {left} left", TREES.len(), TREES.len() - left);
}

#[test]
fn what_nobody_named_is_not_changed() {
    let overlay = "#- ov/kustomization.yaml\nresources: [../base]\npatches: [{path: p.yaml}]\n#- ov/p.yaml\n\
                   apiVersion: llamastack.io/v1alpha1\nkind: LlamaStackDistribution\nmetadata: {name: stack}\n\
                   spec: {replicas: 3}\n";
    let tree = Tree::new("migrate-named", &format!("{BASE}{overlay}"));
    let files = tree.files();
    let ran = tree.llsd(&["migrate", "base", "--write"]);
    expect_test::expect![[r#"
        llsd: base/stack.yaml: not migrated: TREE/ov/p.yaml patch it, or are patched with it, and have to be migrated together: name them too
    "#]]
    .assert_eq(&String::from_utf8(ran.stderr).unwrap().replace(&tree.0.display().to_string(), "TREE"));
    assert_eq!((ran.status.code(), tree.files()), (Some(1), files));
}

#[test]
fn comments_and_the_rest_of_a_patch_stay_as_they_were_written() {
    let (.., fixture, _) = TREES.iter().find(|(name, ..)| *name == "two-overlays").unwrap();
    let tree = Tree::new("migrate-comments", &format!("{BASE}{fixture}"));
    let ran = tree.llsd(&["migrate", ".", "--write"]);
    let text = |file: &str| std::fs::read_to_string(tree.0.join(file)).unwrap();
    let all =
        [text("one/p.yaml"), text("two/kustomization.yaml"), String::from_utf8(ran.stderr).unwrap()].join("----\n");
    expect_test::expect![[r#"
        apiVersion: llamastack.io/v1alpha2
        kind: LlamaStackDistribution
        metadata: {name: stack}
        spec:
          workload:
            # the service of production
            overrides:
              env: # all of them
                - name: VLLM_URL
                  value: http://one:8000/v1 # not the shared one
        ----
        resources: [../base]
        namePrefix: two-
        patches:
        - target: {kind: LlamaStackDistribution, version: v1alpha2}
          patch: |-
            - {op: replace, path: /spec/workload/replicas, value: 4}
        ----
        llsd: base/stack.yaml: note: together with ../one/p.yaml, ../two/kustomization.yaml, as patches bind them
        llsd: base/stack.yaml: note: environment variables stay as they are: a patch may set them
        llsd: base/stack.yaml: note: everything means the same as before
    "#]]
    .assert_eq(&all);
}

#[test]
fn an_overlay_that_cannot_be_built_is_named() {
    let overlay = "#- ov/kustomization.yaml\nresources: [../base]\npatches:\n- target: {kind: LlamaStackDistribution}\n  \
                   patch: |-\n    - {op: remove, path: /spec/server/storage}\n#- fine/kustomization.yaml\nresources: \
                   [../base]\n";
    let tree = Tree::new("migrate-broken", &format!("{BASE}{overlay}"));
    let files = tree.files();
    let ran = tree.llsd(&["migrate", ".", "--write"]);
    let said = String::from_utf8(ran.stderr).unwrap();
    assert!(said.contains("not migrated: ") && said.contains("ov/kustomization.yaml"), "{said}");
    assert_eq!((ran.status.code(), tree.files()), (Some(1), files));
}
