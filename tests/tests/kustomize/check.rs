//! `llsd check -k`: findings of what is built, where the text came from.

use super::Tree;
use expect_test::expect;

const STACK: &str = "\
#- base/kustomization.yaml
resources: [stack.yaml]
#- base/stack.yaml
apiVersion: llamastack.io/v1alpha2
kind: LlamaStackDistribution
metadata: {name: stack}
spec:
  distribution: {name: starter}
  workload: {replicas: none}
";

fn told(tree: &Tree, arguments: &[&str]) -> (i32, String) {
    let ran = tree.llsd(arguments);
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let folder = tree.0.display().to_string();
    let all = format!("{}{}", text(ran.stdout), text(ran.stderr)).replace(&folder, "TREE");
    (ran.status.code().unwrap(), all)
}

#[test]
fn places_are_those_of_base_patch_and_inline_patch_and_each_is_said_once() {
    let fixture = format!(
        "{STACK}#- one/kustomization.yaml\nresources: [../base]\npatches:\n- path: patch.yaml\n- target: {{kind: \
         LlamaStackDistribution}}\n  patch: |-\n    - op: add\n      path: /spec/networking\n      value: {{port: 80}}\n\
         #- one/patch.yaml\napiVersion: llamastack.io/v1alpha2\nkind: LlamaStackDistribution\nmetadata: {{name: stack}}\n\
         spec:\n  storage:\n    kv: {{type: rediss}}\n#- two/kustomization.yaml\nresources: [../base]\nnamePrefix: two-\n"
    );
    let tree = Tree::new("places", &fixture);
    let (code, said) = told(&tree, &["check", "-k", "one", "-k", "two"]);
    expect![[r#"
        error[llsd::schema::type]: expected an integer, found a string
          --> base/stack.yaml:6:24
           6 |   workload: {replicas: none}
             |                        ^^^^

        error[llsd::schema::bounds]: 80 is too small: must be at least 1024
          --> one/kustomization.yaml:8:21
           8 |       value: {port: 80}
             |                     ^^

        error[llsd::schema::enum]: "rediss" is not one of "sqlite", "redis"; did you mean "redis"?
          --> one/patch.yaml:6:16
           6 |     kv: {type: rediss}
             |                ^^^^^^

        2 resources in 3 files: 3 errors; 2 files have none
    "#]]
    .assert_eq(&said);
    assert_eq!(code, 1);
}

/// kustomize knows which fields of Kubernetes' own kinds hold names, and none of ours.
#[test]
fn a_hash_behind_a_name_is_told_unless_it_is_off_or_followed() {
    let fixture = |kustomization: &str| {
        format!(
            "#- kustomization.yaml\nresources: [stack.yaml]\nconfigMapGenerator:\n- name: mine\n  literals: [config.yaml=a]\n\
             {kustomization}#- stack.yaml\napiVersion: llamastack.io/v1alpha2\nkind: LlamaStackDistribution\nmetadata: {{name: \
             stack}}\nspec:\n  distribution: {{name: starter}}\n  overrideConfig: {{configMapName: mine}}\n"
        )
    };
    let tree = Tree::new("hashed", &fixture(""));
    let built = tree.build("").unwrap();
    assert!(built.contains("name: mine-") && built.contains("configMapName: mine\n"), "{built}");
    let (_, said) = told(&tree, &["check", "."]);
    expect![[r#"
        warning[llsd::reference::name-hash]: kustomization.yaml puts a hash behind the name of ConfigMap "mine", which kustomize does not bring into a LlamaStackDistribution: set disableNameSuffixHash in the options of its generator
          --> stack.yaml:6:35
           6 |   overrideConfig: {configMapName: mine}
             |                                   ^^^^

        1 resource in 2 files: 1 warning; 1 file has none
    "#]].assert_eq(&said);
    for settled in ["  options: {disableNameSuffixHash: true}\n", "configurations: [names.yaml]\n"] {
        let (_, said) = told(&Tree::new("settled", &fixture(settled)), &["check", "."]);
        assert!(!said.contains("name-hash"), "{settled}: {said}");
    }
}

#[test]
fn nothing_remote_is_fetched() {
    let fixture = format!(
        "{STACK}#- top/kustomization.yaml\nresources: [../middle]\n#- middle/kustomization.yaml\nresources:\n- ../base\n\
         - https://example.com/stack.yaml\n"
    );
    let (code, said) = told(&Tree::new("remote", &fixture), &["check", "-k", "top"]);
    assert_eq!(code, 2);
    expect![[r#"
        llsd: middle/kustomization.yaml takes https://example.com/stack.yaml from the network, which llsd does not do. Build it yourself and check what comes out: kubectl kustomize top | llsd check -
    "#]]
    .assert_eq(&said);
}

#[test]
fn what_cannot_be_built_is_told_with_the_reason() {
    let tree = Tree::new("broken", &format!("{STACK}#- top/kustomization.yaml\nresources: [../nowhere]\n"));
    let (code, said) = told(&tree, &["check", "-k", "top"]);
    assert!(code == 2 && said.starts_with("llsd: top: kubectl refuses it: ") && said.contains("nowhere"), "{said}");
    let (code, said) = told(&tree, &["check", "-k", "."]);
    assert_eq!((code, &*said), (2, "llsd: . has no kustomization.yaml, kustomization.yml or Kustomization\n"));
}

#[test]
fn without_a_program_it_says_so() {
    let tree = Tree::new("no-program", STACK);
    let mut command = std::process::Command::new(llsd_tests::llsd::binary());
    let ran =
        command.args(["check", "-k", "base"]).current_dir(&tree.0).env("PATH", tree.0.join("base")).output().unwrap();
    assert_eq!(ran.status.code(), Some(2));
    assert_eq!(
        String::from_utf8(ran.stderr).unwrap(),
        "llsd: base: kubectl or kustomize is not installed: it is not on the PATH\n"
    );
}
