#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::path::Path;
use serde_json::json;

fn read(text: &str) -> Value {
    crate::document::Plain::read(&llsd_yaml::parse_document(text)).value
}

#[test]
fn reads_what_kustomize_reads_and_leaves_flux_alone() {
    let read = |text: &str| Kustomization::read(&read(text));
    let flux = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nspec: {path: ./apps}\n";
    assert_eq!(read(flux), None);
    let argo = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nspec: {source: {kustomize: {namePrefix: x}}}\n";
    assert_eq!(read(argo), None);
    let found = read(
        "resources: [a.yaml, ../base]\nbases: [old]\nnamePrefix: p-\npatches:\n- path: b.yaml\n- target: {kind: K}\n  \
         patch: |-\n    - {op: remove, path: /spec}\npatchesJson6902:\n- {path: c.yaml, target: {name: n}}\n\
         patchesStrategicMerge: [d.yaml, \"kind: K\\n\"]\n",
    )
    .unwrap();
    assert_eq!(found.resources, ["a.yaml", "../base", "old"]);
    let shown: Vec<String> = found
        .patches
        .iter()
        .map(|patch| match &patch.source {
            Source::File(path) => format!("{} {path}", patch.path),
            Source::Inline { path, .. } => format!("{path} inline"),
        })
        .collect();
    assert_eq!(
        shown,
        [
            "patchesStrategicMerge[0] d.yaml",
            "patchesStrategicMerge[1] inline",
            "patches[0] b.yaml",
            "patches[1].patch inline",
            "patchesJson6902[0] c.yaml",
        ]
    );
}

#[test]
fn generators_have_the_keys_that_kustomize_gives_them() {
    let kustomization = read(
        "generatorOptions: {disableNameSuffixHash: true}\nconfigMapGenerator:\n- name: c\n  files: [config.yaml=run.yaml, \
         d/x.txt]\n  literals: [a=b=c, 'q=\"v\"']\n- {name: m, behavior: merge, envs: [e.env]}\n\
         secretGenerator:\n- {name: s, literals: [token=x]}\n",
    );
    let all = Kustomization::read(&kustomization).unwrap().generators;
    let keys = |number: usize| all[number].entries.iter().map(|(key, _)| key.as_str()).collect::<Vec<_>>();
    assert_eq!(keys(0), ["config.yaml", "x.txt", "a", "q"]);
    assert_eq!(all[0].entries[2].1, Content::Literal("b=c".to_owned()));
    assert_eq!(all[0].entries[3].1, Content::Literal("v".to_owned()));
    assert_eq!((all[1].behavior, all[1].envs.as_slice()), (Behavior::Merge, ["e.env".to_owned()].as_slice()));
    assert!(all[2].is_secret && all.iter().all(|one| !one.has_hash));
    assert_eq!(env_keys("# c\nA=1\n\n B\n").collect::<Vec<_>>(), ["A", "B"]);
}

#[test]
fn knows_what_is_fetched() {
    for remote in [
        "https://example.com/x.yaml",
        "github.com/org/repo//base?ref=v1",
        "git@github.com:org/repo",
        "git::https://example.com/x",
        "example.com/org/repo.git//base",
        "ssh://git@host/x",
    ] {
        assert!(is_remote(remote), "{remote}");
    }
    for local in ["../base", "stack.yaml", "./a/b", "sub.git.d/x", "/abs/base"] {
        assert!(!is_remote(local), "{local}");
    }
}

#[test]
fn merges_as_kustomize_does_without_merge_keys() {
    let base = read(
        "spec:\n  m: {x: 1, w: 2, l: [1]}\n  k: {a: 1}\n  o: {deep: {a: 1}}\n  list: [{name: a, v: 1}, {name: b}]\n  gone: 1\n",
    );
    let patch = read(
        "spec:\n  m: {x: null, z: null, l: []}\n  k: {$patch: replace, q: 1, r: null}\n  o: {deep: {$patch: delete}}\n  \
         list: [{name: a, w: 1}, {$patch: delete, name: b}]\n  gone: null\n  \
         new: {a: {b: null, c: {$patch: delete, d: 1}, e: {$patch: replace, f: 1}}, h: [{i: null}]}\n  $retainKeys: [m]\n",
    );
    let result = merge(&base, &patch).unwrap().unwrap();
    assert_eq!(
        result,
        json!({"spec": {
            "m": {"w": 2, "l": []},
            "k": {"q": 1},
            "o": {},
            "list": [{"name": "a", "w": 1}, {"$patch": "delete", "name": "b"}],
            "new": {"a": {"e": {"f": 1}}, "h": [{"i": null}]},
            "$retainKeys": ["m"],
        }})
    );
    assert_eq!(merge(&base, &json!({"$patch": "delete"})).unwrap(), None);
    for (patch, at) in [
        (json!({"spec": {"m": "text"}}), "spec.m"),
        (json!({"spec": {"gone": {"a": 1}}}), "spec.gone"),
        (json!({"spec": {"list": {"a": 1}}}), "spec.list"),
        (json!({"spec": {"m": {"$patch": "drop"}}}), "spec.m.$patch"),
    ] {
        assert_eq!(merge(&base, &patch).unwrap_err().path.to_string(), at);
    }
}

#[test]
fn targets_select_by_whole_patterns() {
    let one =
        Identity { api_version: "llamastack.io/v1alpha1", kind: "LlamaStackDistribution", name: "a-b", namespace: "" };
    let selects = |text: &str| {
        let kustomization = json!({"patches": [{"path": "x", "target": read(text)}]});
        Kustomization::read(&kustomization).unwrap().patches[0].target.clone().unwrap().selects(&one)
    };
    for yes in ["{kind: Llama.*}", "{name: a-.}", "{group: llamastack.io, version: v1alpha1}", "{namespace: default}"] {
        assert_eq!(selects(yes), Some(true), "{yes}");
    }
    for no in ["{kind: Llama}", "{name: a}", "{version: v1alpha2}", "{namespace: x}", "{name: '('}"] {
        assert_eq!(selects(no), Some(false), "{no}");
    }
    assert_eq!(selects("{labelSelector: a=b}"), None);
}

#[test]
fn applies_operations_in_order_and_names_the_one_that_fails() {
    let value = json!({"spec": {"env": [{"name": "A"}], "replicas": 1}});
    let apply = |text: &str| Operations::read(&read(text)).unwrap().apply(&value);
    let done = apply(
        "- {op: add, path: /spec/env/-, value: {name: B}}\n- {op: replace, path: /spec/replicas, value: 2}\n\
         - {op: copy, from: /spec/replicas, path: /spec/other}\n- {op: test, path: /spec/other, value: 2}\n\
         - {op: remove, path: /spec/env/0}\n",
    );
    assert_eq!(done.unwrap(), json!({"spec": {"env": [{"name": "B"}], "replicas": 2, "other": 2}}));
    let failed = apply("- {op: add, path: /a, value: 1}\n- {op: remove, path: /spec/nope}\n");
    assert_eq!(failed.unwrap_err().number, 1);
    let replaced = apply("- {op: replace, path: /spec/new, value: 1}\n").unwrap();
    assert_eq!(replaced["spec"]["new"], 1, "as kustomize does");
    assert!(Operations::read(&json!([{"name": "x"}])).is_none());
    assert!(Operations::read(&json!({"op": "add"})).is_none());
}

#[test]
fn directives_are_taken_out_and_told_apart() {
    let patch = read(
        "spec:\n  storage: {$patch: delete}\n  workload: {$patch: replace, replicas: 1}\n  $retainKeys: [a]\n  \
         $deleteFromPrimitiveList/disabled: [x]\n  list: [{$patch: delete, name: a}]\n  x: {$patch: drop}\n",
    );
    let found = undirected(&patch);
    let shown = |paths: &mut dyn Iterator<Item = &Path>| paths.map(Path::to_string).collect::<Vec<_>>();
    assert_eq!(
        found.value,
        json!({"spec": {"storage": {}, "workload": {"replicas": 1}, "list": [{"name": "a"}], "x": {}}})
    );
    assert_eq!(shown(&mut found.removed.iter()), ["spec.storage"]);
    assert_eq!(shown(&mut found.complete.iter()), ["spec.list[0]", "spec.workload"]);
    assert_eq!(found.kept.len(), 3);
    assert_eq!(found.unknown, [(Path::parse("spec.x.$patch"), "drop".to_owned())]);
    assert!(is_directive("$patch") && is_directive("$setElementOrder/env") && !is_directive("$ref"));
}
