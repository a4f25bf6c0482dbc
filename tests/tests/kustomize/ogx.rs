//! What `llsd migrate --to ogx` makes of trees of kustomizations: what kustomize builds of the new files is what the old
//! result, as one text, is rewritten as; or nothing changes, and it is said why.

use super::Tree;
use super::trees::{BASE, TREES};
use serde::Deserialize as _;
use serde_json::{Value, json};
use std::io::Write as _;
use std::process::{Command, Stdio};

/// A resource of v1alpha2 with a base of its own, for the trees below.
const NEWER: &str = "\
#- base/kustomization.yaml
resources: [stack.yaml]
#- base/stack.yaml
apiVersion: llamastack.io/v1alpha2
kind: LlamaStackDistribution
metadata:
  name: stack
spec:
  distribution:
    name: starter
  workload:
    storage: {size: 5Gi}
    overrides:
      env:
        - {name: VLLM_URL, value: 'http://vllm:8000/v1'}
";

/// A name, the options, and the files beside [`NEWER`].
type Fixture = (&'static str, &'static [&'static str], &'static str);

const OWN: &[Fixture] = &[
    (
        "merged",
        &[],
        "\
#- ov/kustomization.yaml
resources: [../base]
namespace: prod
patches: [{path: p.yaml}]
#- ov/p.yaml
# more of it
apiVersion: llamastack.io/v1alpha2
kind: LlamaStackDistribution
metadata: {name: stack}
spec:
  # for the weekend
  workload:
    replicas: 3 # three
    storage: {size: 50Gi}
  networking:
    port: 9000
",
    ),
    (
        "operations",
        &[],
        "\
#- ov/kustomization.yaml
resources: [../base]
patches:
- target: {group: llamastack.io, version: v1alpha2, kind: LlamaStackDistribution, name: stack}
  patch: |-
    - op: replace # grows
      path: /spec/workload/storage/size
      value: 50Gi
    - op: add
      path: /spec/workload/overrides/env/-
      value: {name: LOG, value: debug}
    - op: add
      path: /spec/networking
      value: {port: 9000, expose: {}}
",
    ),
    (
        "component",
        &["--same-name"],
        "\
#- part/kustomization.yaml
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
patches:
- target: {kind: LlamaStackDistribution}
  patch: |-
    - {op: add, path: /spec/workload/replicas, value: 2}
#- one/kustomization.yaml
resources: [../base]
components: [../part]
namePrefix: one-
#- two/kustomization.yaml
resources: [../base]
components: [../part]
namespace: two
patchesStrategicMerge:
- |-
  apiVersion: llamastack.io/v1alpha2
  kind: LlamaStackDistribution
  metadata: {name: stack}
  spec: {distribution: {name: null, image: 'registry.example/ogx:1.5.0'}}
",
    ),
    (
        "config",
        &[],
        "\
#- ov/kustomization.yaml
resources: [../base, config.yaml]
patches: [{path: p.yaml}]
#- ov/config.yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: own}
data:
  config.yaml: |
    version: 2
    image_name: starter
    apis: [inference]
    providers:
      inference:
      - {provider_id: vllm, provider_type: 'remote::vllm', config: {url: 'http://vllm:8000/v1'}}
#- ov/p.yaml
apiVersion: llamastack.io/v1alpha2
kind: LlamaStackDistribution
metadata: {name: stack}
spec: {overrideConfig: {configMapName: own}}
",
    ),
    (
        "removed",
        &["--same-name"],
        "\
#- ov/kustomization.yaml
resources: [../base]
patches:
- patch: |-
    apiVersion: llamastack.io/v1alpha2
    kind: LlamaStackDistribution
    metadata: {name: stack}
    $patch: delete
",
    ),
];

/// The trees of v1alpha1 that are left, and words of the reason.
const LEFT: &[(&str, &str)] = &[
    ("operations-json", "may apply to other kinds too"),
    ("sleeping-version", "takes a patch for the other version"),
    ("selector", "labels or annotations decide"),
    ("replacement", "which are not followed"),
    ("not-alike", "not alike at /spec/replicas"),
    ("in-quotes", "write it as a block"),
];

/// The objects of a text, in one order.
fn objects(text: &str) -> Vec<Value> {
    let all = serde_yaml::Deserializer::from_str(text).map(|one| Value::deserialize(one).unwrap());
    let mut all: Vec<Value> = all.filter(|one| !one.is_null()).collect();
    all.sort_by_key(|one| format!("{} {} {}", one["kind"], one["metadata"]["namespace"], one["metadata"]["name"]));
    all
}

/// What `llsd migrate --to ogx` prints for a text.
fn alone(text: &str, options: &[&str]) -> String {
    let mut child = Command::new(llsd_tests::llsd::binary())
        .args(["migrate", "--to", "ogx", "--allow-changes"])
        .args(options)
        .arg("-")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
}

/// Migrates a tree; what is said of what is left, if anything is. Every folder that can be built is compared.
fn migrated(tree: &Tree, options: &[&str]) -> Result<(), String> {
    let files = tree.files();
    let mut folders: Vec<String> = files
        .iter()
        .filter(|(path, text)| path.ends_with("kustomization.yaml") && !text.contains("Component"))
        .map(|(path, _)| path.parent().unwrap().strip_prefix(&tree.0).unwrap().to_str().unwrap().to_owned())
        .collect();
    folders.sort();
    let built = |folder: &String| tree.build(folder);
    let before: Vec<_> = folders.iter().map(built).collect();
    let ran = tree.llsd(&[&["migrate", "--to", "ogx", "--write", "--allow-changes"], options, &["."]].concat());
    let said = String::from_utf8(ran.stderr).unwrap();
    if said.contains("not migrated") {
        assert!(tree.files() == files, "what is left is left as it was: {said}");
        return Err(said);
    }
    for (folder, before) in folders.iter().zip(before) {
        let Ok(before) = before else { continue };
        let after = tree.build(folder).unwrap_or_else(|error| panic!("{folder}: {error}\n{said}"));
        assert!(!after.contains("LlamaStackDistribution"), "{folder}: {after}");
        let (expected, found) = (objects(&alone(&before, options)), objects(&after));
        // the new operator's label is given to objects in the files alone, and both have them there
        assert_eq!(found, expected, "{folder}\n{said}");
    }
    Ok(())
}

#[test]
fn trees_of_v1alpha2_become_what_their_results_become() {
    for (name, options, fixture) in OWN {
        let tree = Tree::new(&format!("ogx-own-{name}"), &format!("{NEWER}{fixture}"));
        migrated(&tree, options).unwrap_or_else(|said| panic!("{name}: {said}"));
        let all: String = tree.files().into_iter().map(|(_, text)| text).collect();
        for comment in ["# more of it", "# for the weekend", "# three", "# grows"] {
            assert_eq!(all.contains(comment), fixture.contains(comment), "{name}: {all}");
        }
    }
}

/// The ConfigMap is known by name alone: its text is a file, and only the overlay gives it a namespace.
#[test]
fn a_config_that_a_kustomization_makes_of_a_file_is_mounted_and_labelled() {
    let text = "\
#- base/kustomization.yaml
resources: [stack.yaml]
generatorOptions: {disableNameSuffixHash: true}
configMapGenerator:
- name: run # the server's
  files: [run.yaml]
secretGenerator:
- name: token
  literals: [token=sesame]
  options:
    labels: {team: a}
#- base/run.yaml
version: 2
image_name: starter
apis: [inference]
providers:
  inference:
  - provider_id: vllm
    provider_type: remote::vllm
    config:
      base_url: ${env.VLLM_URL}
#- base/stack.yaml
apiVersion: llamastack.io/v1alpha1
kind: LlamaStackDistribution
metadata:
  name: stack
spec:
  server:
    distribution: {name: starter}
    containerSpec:
      env:
      - {name: VLLM_URL, value: 'http://vllm:8000/v1'}
      - name: TOKEN
        valueFrom: {secretKeyRef: {name: token, key: token}}
    userConfig: {configMapName: run}
#- ov/kustomization.yaml
resources: [../base]
namespace: prod
patches:
- target: {kind: LlamaStackDistribution}
  patch: |-
    - {op: add, path: /spec/replicas, value: 2}
";
    let tree = Tree::new("ogx-generated", text);
    let ran = tree.llsd(&["migrate", "--to", "ogx", "--write", "--allow-changes", "."]);
    let said = String::from_utf8(ran.stderr).unwrap();
    assert!(!said.contains("not migrated") && !said.contains("kubectl label"), "{said}");
    let built = objects(&tree.build("ov").unwrap());
    let of = |kind: &str| built.iter().find(|one| one["kind"] == kind).unwrap_or_else(|| panic!("{kind}: {built:#?}"));
    assert_eq!(of("OGXServer")["spec"]["overrideConfig"], json!({"name": "run", "key": "run.yaml"}), "{said}");
    assert_eq!(of("OGXServer")["spec"]["workload"]["replicas"], 2);
    assert_eq!(of("ConfigMap")["metadata"]["labels"], json!({"ogx.io/watch": "true"}));
    assert!(of("ConfigMap")["data"]["run.yaml"].as_str().unwrap().contains("distro_name"));
    let kustomization = std::fs::read_to_string(tree.0.join("base/kustomization.yaml")).unwrap();
    assert!(kustomization.contains("# the server's"), "{kustomization}");
}

#[test]
fn trees_of_v1alpha1_become_what_their_results_become() {
    let mut left = Vec::new();
    for (name, _, fixture, _) in TREES {
        let tree = Tree::new(&format!("ogx-{name}"), &format!("{BASE}{fixture}"));
        if let Err(said) = migrated(&tree, &["--same-name"]) {
            left.push((*name, said));
        }
    }
    let words = |name: &str| LEFT.iter().find(|(known, _)| *known == name).map(|(_, words)| *words);
    let wrong: Vec<_> =
        left.iter().filter(|(name, said)| !words(name).is_some_and(|words| said.contains(words))).collect();
    assert!(wrong.is_empty() && left.len() == LEFT.len(), "{wrong:#?}\nof {}", left.len());
}
