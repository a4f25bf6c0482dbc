//! What kustomizations make of files, as an editor shows it.

use crate::ide::files::Files;
use crate::ide::support::shown;
use expect_test::{Expect, expect};
use llsd::ide;
use std::fmt::Write;

const BASE: &str = "\
#- base/kustomization.yaml
resources: [stack.yaml]
#- base/stack.yaml
apiVersion: llamastack.io/v1alpha2
kind: LlamaStackDistribution
metadata: {name: stack}
spec:
  distribution: {name: starter}
  providers:
    inference:
      - {provider: vllm, endpoint: \"http://vllm:8000/v1\"}
";

const PATCH: &str = "apiVersion: llamastack.io/v1alpha2\nkind: LlamaStackDistribution\nmetadata: {name: stack}\n";

/// `file:place message`, a line each.
fn told(fixture: &str) -> String {
    let files = Files::new(fixture);
    let mut all = String::new();
    for name in files.names() {
        for found in files.analysis(&name).diagnostics() {
            let place = shown(files.text(&name), found.span);
            writeln!(all, "{name}:{place}: {:?} {}", found.severity, found.message).unwrap();
        }
    }
    all
}

fn check(fixture: &str, expected: Expect) {
    expected.assert_eq(&told(fixture));
}

#[test]
fn a_patch_lacks_nothing_and_may_remove() {
    for spec in [
        "spec:\n  workload: {replicas: 1}\n",
        "spec:\n  storage:\n    $patch: delete\n",
        "spec:\n  workload: {$patch: replace, replicas: 1}\n",
        "spec:\n  networking: null\n",
        "$patch: delete\n",
        "spec: {}\n",
    ] {
        for (entry, file) in
            [("patches: [{path: p.yaml}]", "ov/p.yaml"), ("patchesStrategicMerge: [p.yaml]", "ov/p.yaml")]
        {
            let fixture =
                format!("{BASE}#- ov/kustomization.yaml\nresources: [../base]\n{entry}\n#- {file}\n{PATCH}{spec}");
            assert_eq!(told(&fixture), "", "{spec}");
        }
    }
}

#[test]
fn the_order_in_which_files_are_known_does_not_matter_nor_do_folders() {
    let patch = format!("#- patches/deep/p.yaml\n{PATCH}spec: {{workload: {{replicas: x}}}}\n");
    let overlay =
        "#- overlays/prod/kustomization.yml\nresources: [../../base]\npatches: [{path: ../../patches/deep/p.yaml}]\n";
    let expected = "patches/deep/p.yaml:4:29-4:30 x: Error expected an integer, found a string\n";
    assert_eq!(told(&format!("{BASE}{overlay}{patch}")), expected);
    assert_eq!(told(&format!("{patch}{overlay}{BASE}")), expected);
}

#[test]
fn what_is_written_in_a_patch_is_checked() {
    check(
        &format!(
            "{BASE}#- ov/kustomization.yaml\nresources: [../base]\npatches: [{{path: p.yaml}}]\n#- ov/p.yaml\n{PATCH}\
             spec:\n  wrkload: {{}}\n  networking: {{port: 80}}\n  storage:\n    kv: {{type: memcached}}\n  \
             providers:\n    inference:\n      - {{endpoint: x}}\n    safety:\n      - {{provider: nope}}\n  \
             $retainKeys: [x]\n  workload: {{$patch: drop}}\n"
        ),
        expect![[r#"
            ov/p.yaml:5:3-5:10 wrkload: Error unknown field "wrkload"; did you mean "workload"?
            ov/p.yaml:6:22-6:24 80: Error 80 is too small: must be at least 1024
            ov/p.yaml:8:16-8:25 memcached: Error "memcached" is not one of "sqlite", "redis"
            ov/p.yaml:11:9-11:22 {endpoint: x}: Error missing required field "provider"
            ov/p.yaml:14:3-14:14 $retainKeys: Warning kustomize does not apply "$retainKeys" here, as it knows no merge keys of this kind: it stays in the result
            ov/p.yaml:15:22-15:26 drop: Error Unknown $patch "drop": kustomize takes delete, replace and merge
        "#]],
    );
}

#[test]
fn a_patch_answers_for_what_becomes_of_its_resource() {
    // an endpoint for redis is nowhere: the base has the type already, or the patch brings it
    check(
        &format!(
            "{BASE}#- ov/kustomization.yaml\nresources: [../base]\npatches: [{{path: p.yaml}}]\n#- ov/p.yaml\n{PATCH}\
             spec:\n  disabled: [inference]\n  distribution: {{image: \"quay.io/x/y:1\"}}\n"
        ),
        expect![[r#"
            ov/p.yaml:6:17-6:41 {image: "quay.io/x/y:1"}: Error only one of name or image can be specified
        "#]],
    );
}

#[test]
fn operations_are_judged_by_the_schema_at_their_place_and_by_their_result() {
    check(
        &format!(
            "{BASE}#- ov/kustomization.yaml\nresources: [../base]\npatches:\n- path: ops.yaml\n  target: {{kind: \
             LlamaStackDistribution}}\n- target: {{name: stack}}\n  patch: |-\n    - op: add\n      path: \
             /spec/workload\n      value: {{replicas: three, repliicas: 3}}\n    - {{op: set, path: spec}}\n\
             #- ov/ops.yaml\n- op: add\n  path: /spec/providers/inference/-\n  value: {{provider: vlm}}\n- op: replace\n  \
             path: /spec/distribtion\n  value: 1\n"
        ),
        expect![[r#"
            ov/kustomization.yaml:9:25-9:30 three: Error expected an integer, found a string
            ov/kustomization.yaml:9:32-9:41 repliicas: Error unknown field "repliicas"; did you mean "replicas"?
            ov/kustomization.yaml:10:12-10:15 set: Error Unknown operation "set": it is one of add, remove, replace, move, copy, test
            ov/kustomization.yaml:10:23-10:27 spec: Error "spec" is no JSON pointer: it begins with a slash, as in /spec/workload/replicas
            ov/ops.yaml:3:21-3:24 vlm: Error Unknown inference provider "vlm" in llama-stack 0.4.7. Did you mean "vllm"?
            ov/ops.yaml:5:9-5:26 /spec/distribtion: Error unknown field "distribtion" in /spec/distribtion
        "#]],
    );
}

#[test]
fn patches_of_components_and_of_overlays_above_meet_what_comes_to_them() {
    check(
        &format!(
            "{BASE}#- ov/kustomization.yaml\nresources: [../base]\nnamePrefix: p-\ncomponents: [../comp]\n\
             #- comp/kustomization.yaml\nkind: Component\npatches: [{{path: c.yaml}}]\n#- comp/c.yaml\n{PATCH}\
             spec: {{disabled: [inference]}}\n#- top/kustomization.yaml\nresources: [../ov]\npatches:\n- target: {{name: \
             p-stack}}\n  patch: |-\n    - {{op: add, path: /spec/disabled/-, value: safety}}\n    - {{op: add, path: \
             /spec/disabled/-, value: 3}}\n"
        ),
        expect![[r#"
            top/kustomization.yaml:6:48-6:49 3: Error expected a string, found an integer
            top/kustomization.yaml:6:48-6:49 3: Error 3 is not one of "agents", "batches", "datasetio", "eval", "file_processors", "files", "inference", "post_training", "responses", "safety", "scoring", "telemetry", "tool_runtime", "vector_io", "fileProcessors", "postTraining", "toolRuntime", "vectorIo"
        "#]],
    );
}

#[test]
fn a_resource_that_a_kustomization_also_takes_as_one_is_whole() {
    let fixture = format!(
        "#- kustomization.yaml\nresources: [p.yaml]\npatches: [{{path: p.yaml}}]\n#- p.yaml\n{PATCH}spec: {{}}\n"
    );
    assert!(told(&fixture).contains("missing required field \"distribution\""));
    // Flux and Argo CD only share the name
    let flux = format!(
        "#- kustomization.yaml\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nspec: {{patches: \
         [{{patch: \"kind: LlamaStackDistribution\"}}]}}\npatches: [{{path: p.yaml}}]\n#- p.yaml\n{PATCH}spec: {{}}\n"
    );
    assert!(told(&flux).contains("missing required field \"distribution\""));
}

#[test]
fn generated_objects_are_found() {
    let stack = |name: &str| {
        format!(
            "#- stack.yaml\n{PATCH}spec:\n  distribution: {{name: starter}}\n  overrideConfig: {{configMapName: {name}}}\n"
        )
    };
    let kustomization = "#- kustomization.yaml\nresources: [stack.yaml]\ngeneratorOptions: {disableNameSuffixHash: \
                         true}\nconfigMapGenerator:\n- {name: good, files: [config.yaml=run.yaml]}\n- {name: bad, literals: \
                         [run.yaml=x]}\n- {name: open, envs: [e.env]}\n";
    assert_eq!(told(&format!("{}{kustomization}", stack("good"))), "");
    assert_eq!(told(&format!("{}{kustomization}", stack("open"))), "");
    assert!(told(&format!("{}{kustomization}", stack("bad"))).contains("has no key \"config.yaml\""));
}

#[test]
fn a_reference_leads_to_the_generator_and_to_its_key() {
    let fixture = format!(
        "#- stack.yaml\n{PATCH}spec:\n  distribution: {{name: starter}}\n  workload:\n    overrides:\n      env:\n        \
         - {{name: A, valueFrom: {{secretKeyRef: {{name: to$0kens, key: vllm}}}}}}\n#- kustomization.yaml\nresources: \
         [stack.yaml]\nsecretGenerator:\n- name: tokens\n  literals: [vllm=x]\n"
    );
    let files = Files::new(&fixture);
    let (name, at) = files.cursor.clone().unwrap();
    let target = |at: usize| {
        let found = ide::definition(&files.about(&name), at);
        let place = found.into_iter().next().unwrap();
        place.text()[place.span.start..place.span.end].to_owned()
    };
    assert_eq!(target(at), "tokens");
    let key = files.text(&name).find("key: vllm").unwrap() + 6;
    assert_eq!(target(key), "vllm");
}

#[test]
fn completion_and_hover_work_in_patches_and_in_those_that_stand_in_a_kustomization() {
    let overlay = "#- ov/kustomization.yaml\nresources: [../base]\npatches:\n- path: p.yaml\n- patch: |-\n    apiVersion: \
                   llamastack.io/v1alpha2\n    kind: LlamaStackDistribution\n    metadata: {name: stack}\n    spec:\n      \
                   INLINE\n#- ov/p.yaml\n";
    for (inline, file) in [("$0", "spec: {}\n"), ("workload: {}", "spec:\n  $0\n")] {
        let fixture = format!("{BASE}{}{PATCH}{file}", overlay.replace("INLINE", inline));
        let files = Files::new(&fixture);
        let (name, at) = files.cursor.clone().unwrap();
        let offers = ide::complete(files.analysis(&name), at);
        let offered: Vec<&str> = offers.iter().map(|item| item.label.as_str()).collect();
        assert!(offered.contains(&"networking") && offered.contains(&"storage"), "{name}: {offered:?}");
        let deep = offers.iter().find(|item| item.insert.new_text.contains('\n')).unwrap();
        assert_eq!(deep.insert.span.start, at, "{:?}", deep.insert);
    }
    let fixture = format!("{BASE}{}{PATCH}spec: {{}}\n", overlay.replace("INLINE", "wor$0kload: {}"));
    let files = Files::new(&fixture);
    let (name, at) = files.cursor.clone().unwrap();
    let hover = ide::hover(files.analysis(&name), at).unwrap();
    assert!(hover.markdown.starts_with("**workload**"), "{}", hover.markdown);
    assert_eq!(&files.text(&name)[hover.span.start..hover.span.end], "workload");
}

/// What is offered at the cursor, by name, and the place of the first offer's insertion.
fn offered(fixture: &str) -> (Vec<String>, String) {
    let files = Files::new(fixture);
    let (name, at) = files.cursor.clone().unwrap();
    let offers = ide::complete(files.analysis(&name), at);
    let first = offers.first().map(|item| item.insert.new_text.clone()).unwrap_or_default();
    (offers.into_iter().map(|item| item.label).collect(), first)
}

#[test]
fn the_value_of_an_operation_is_completed_as_what_stands_at_its_path() {
    let overlay =
        "#- ov/kustomization.yaml\nresources: [../base]\npatches:\n- target: {kind: LlamaStackDistribution}\n  ";
    // in a file of its own, in the kustomization, and in the older list
    let file = |operations: &str| format!("{BASE}{overlay}path: ops.yaml\n#- ov/ops.yaml\n{operations}");
    let inline = |operations: &str| format!("{BASE}{overlay}patch: |-\n    {}\n", operations.replace('\n', "\n    "));
    let older = |operations: &str| file(operations).replace("\npatches:", "\npatchesJson6902:");
    let ways: [&dyn Fn(&str) -> String; 3] = [&file, &inline, &older];
    for way in ways {
        let has = |operations: &str, wanted: &[&str]| {
            let (labels, _) = offered(&way(operations));
            assert!(wanted.iter().all(|one| labels.iter().any(|label| label == one)), "{operations}: {labels:?}");
        };
        has("- op: add\n  path: /spec/workload\n  value:\n    replicas: 2\n    $0", &["autoscaling", "storage"]);
        has("- op: add\n  path: /spec/workload\n  value:\n    storage:\n      $0", &["size", "mountPath"]);
        has("- op: replace\n  path: /spec/distribution/name\n  value: $0", &["starter", "remote-vllm"]);
        has(
            "- op: add\n  path: /spec/providers/inference/-\n  value:\n    provider: vllm\n    $0",
            &["endpoint", "apiKey"],
        );
        has("- op: add\n  path: /spec/providers/inference/-\n  value:\n    provider: $0", &["vllm", "openai"]);
        has("- op: add\n  path: /spec/providers/inference/0/settings\n  value:\n    $0", &["max_tokens"]);
        has("- op: $0\n  path: /spec/workload", &["add", "replace", "remove"]);
        has("- op: remove\n  path: /spec/storage\n- path: /spec/storage\n  $0", &["op", "value"]);
    }
    let nothing = |operations: &str| assert_eq!(offered(&file(operations)).0, Vec::<String>::new(), "{operations}");
    nothing("- op: add\n  path: /spec/nowhere\n  value:\n    $0");
    nothing("- op: add\n  path: no-pointer\n  value:\n    $0");
    nothing("- op: add\n  path: $0\n  value: 1");
    // what is inserted into a text inside of the kustomization begins where the cursor is
    assert_eq!(offered(&inline("- op: add\n  path: /spec/workload\n  value:\n    rep$0")).1, "replicas: ${1:1}");
}

#[test]
fn the_value_of_an_operation_is_explained_as_what_stands_at_its_path() {
    let overlay =
        "#- ov/kustomization.yaml\nresources: [../base]\npatches:\n- target: {kind: LlamaStackDistribution}\n  ";
    let file = |operations: &str| format!("{BASE}{overlay}path: ops.yaml\n#- ov/ops.yaml\n{operations}");
    let inline = |operations: &str| format!("{BASE}{overlay}patch: |-\n    {}\n", operations.replace('\n', "\n    "));
    let ways: [&dyn Fn(&str) -> String; 2] = [&file, &inline];
    for way in ways {
        let says = |operations: &str, word: &str, wanted: &[&str]| {
            let files = Files::new(&way(operations));
            let (name, at) = files.cursor.clone().unwrap();
            let hover = ide::hover(files.analysis(&name), at).unwrap_or_else(|| panic!("nothing at {operations}"));
            assert_eq!(&files.text(&name)[hover.span.start..hover.span.end], word, "{operations}");
            assert!(wanted.iter().all(|one| hover.markdown.contains(one)), "{operations}: {}", hover.markdown);
            hover.markdown
        };
        let workload = "- op: add\n  path: /spec/workload\n  value:\n    ";
        says(&format!("{workload}rep$0licas: 2"), "replicas", &["**replicas** · integer"]);
        says(&format!("{workload}storage:\n      si$0ze: 10Gi"), "size", &["**size**"]);
        says("- op: replace\n  path: /spec/workload/replicas\n  value: $03", "3", &["**replicas** · integer"]);
        says("- op: replace\n  path: /spec/workload/replicas\n  va$0lue: 3", "value", &["**replicas** · integer"]);
        says("- op: remove\n  path: /spec/work$0load", "/spec/workload", &["**workload**"]);
        says("- op: rem$0ove\n  path: /spec/workload", "remove", &["takes a value away"]);
        let provider = "- op: add\n  path: /spec/providers/inference/-\n  value: ";
        // of two that are appended each speaks for itself
        let two = format!("{provider}{{id: a, provider: o$0llama}}\n{provider}{{id: b, provider: openai}}");
        says(&two, "ollama", &["`remote::ollama` for inference"]);
        let two = format!("{provider}{{id: a, provider: ollama}}\n{provider}{{id: b, provider: o$0penai}}");
        says(&two, "openai", &["`remote::openai` for inference"]);
        // what is written over does not reach the config
        let endpoint =
            |value: &str| format!("- op: replace\n  path: /spec/providers/inference/0/endpoint\n  value: {value}\n");
        let first =
            says(&(endpoint("http://a:$01/v1") + &endpoint("http://b:1/v1")), "http://a:1/v1", &["**endpoint**"]);
        assert!(!first.contains("generated config.yaml"), "{first}");
        let both = endpoint("http://a:1/v1") + &endpoint("http://b:$01/v1");
        says(&both, "http://b:1/v1", &["In the generated config.yaml:", "base_url: http://b:1/v1"]);
        let setting = "{id: a, provider: vllm, endpoint: \"http://b:1/v1\", settings: {max_t$0okens: 5}}";
        says(&format!("{provider}{setting}"), "max_tokens", &["max_tokens"]);
    }
    let nothing = |operations: &str| {
        let files = Files::new(&file(operations));
        let (name, at) = files.cursor.clone().unwrap();
        assert!(ide::hover(files.analysis(&name), at).is_none(), "{operations}");
    };
    nothing("- op: add\n  path: /spec/nowhere\n  value: $0x");
    nothing("- op: add\n  path: no-po$0inter\n  value: 1");
    nothing("- o$0p: add\n  path: /spec/workload/replicas\n  value: 1");
}

#[test]
fn the_preview_of_a_patch_is_that_of_the_resource_with_it() {
    let fixture = format!(
        "{BASE}#- ov/kustomization.yaml\nresources: [../base]\npatches: [{{path: p.yaml}}]\n#- ov/p.yaml\n{PATCH}\
         spec:\n  resources:\n    models: [{{name: patched-model, provider: vllm}}]\n"
    );
    let files = Files::new(&fixture);
    let preview = ide::preview(files.analysis("ov/p.yaml"), 0).unwrap();
    assert!(preview.text.contains("patched-model") && preview.text.contains("http://vllm:8000/v1"), "{}", preview.text);
    assert!(preview.lines.iter().any(|line| line.source_span.is_some()));
    let alone = Files::new(&format!(
        "#- kustomization.yaml\nresources: [\"https://example.com/x\"]\npatches: [{{path: p.yaml}}]\n#- p.yaml\n{PATCH}\
         spec: {{}}\n"
    ));
    let preview = ide::preview(alone.analysis("p.yaml"), 0).unwrap();
    assert_eq!(preview.text, "# This is a patch, and no resource is known that it is merged into.\n");
}

#[test]
fn the_preview_in_a_kustomization_is_that_of_the_resource_with_the_patch_that_stands_there() {
    let merge = "- patch: |-\n    apiVersion: llamastack.io/v1alpha2\n    kind: LlamaStackDistribution\n    metadata: {name: \
                 stack}\n    spec:\n      resources:\n        models: [{name: patched-model, provider: vllm}]\n";
    let operations = "- target: {name: stack}\n  patch: |-\n    - op: add\n      path: /spec/resources\n      value:\n        \
                      models: [{name: added-model, provider: vllm}]\n";
    let fixture = format!("{BASE}#- ov/kustomization.yaml\nresources: [../base]\npatches:\n{merge}{operations}");
    let files = Files::new(&fixture);
    let (analysis, text) = (files.analysis("ov/kustomization.yaml"), files.text("ov/kustomization.yaml"));
    for word in ["patched-model", "added-model"] {
        let (document, resource) = analysis.resource_at(text.find(word).unwrap()).unwrap();
        let preview = ide::preview_of(analysis, document, resource).unwrap();
        assert!(preview.text.contains(word) && preview.text.contains("http://vllm:8000/v1"), "{}", preview.text);
        let line = preview.text.lines().position(|line| line.contains(word)).unwrap();
        let span = preview.lines[line].source_span.unwrap();
        let written = text[span.start..span.end].to_owned();
        assert!(["name", word].contains(&written.as_str()), "{word}: {written:?}");
    }
    assert!(!ide::preview_of(analysis, 0, 0).unwrap().text.contains("added-model"), "what comes before");
    let lenses = ide::lenses(analysis);
    let at: Vec<&str> = lenses.iter().map(|lens| text[lens.span.start..].lines().next().unwrap_or_default()).collect();
    assert_eq!(at, ["apiVersion: llamastack.io/v1alpha2", "- op: add"]);
    for lens in lenses {
        assert!(
            analysis
                .resource_at(lens.span.start)
                .is_some_and(|place| ide::preview_of(analysis, place.0, place.1).is_some())
        );
    }
}

const OLD: &str = "\
#- base/kustomization.yaml
resources: [stack.yaml]
#- base/stack.yaml
apiVersion: llamastack.io/v1alpha1
kind: LlamaStackDistribution
metadata: {name: stack}
spec:
  replicas: 2
  server:
    distribution: {name: starter}
#- ov/kustomization.yaml
resources: [../base]
patches:
- target: {kind: LlamaStackDistribution, version: v1alpha1}
  patch: |-
    # for production
    - {op: replace, path: /spec/replicas, value: 3}
";

/// What is offered for the resource of the base: title, or why it is not possible.
fn migrations(files: &Files) -> Vec<String> {
    let offers = ide::migration_offers(&files.about("base/stack.yaml"), ide::Span::new(0, 0));
    let to_newer = offers.into_iter().filter(|offer| offer.target == ide::MigrationTarget::Newer);
    to_newer.map(|offer| offer.refused.unwrap_or(offer.title)).collect()
}

#[test]
fn a_resource_is_migrated_with_its_patches_in_an_editor_too() {
    let files = Files::new(OLD);
    assert_eq!(migrations(&files), ["Migrate to v1alpha2 together with its patches"]);
    let about = files.about("base/stack.yaml");
    let mut offers = ide::migration_offers(&about, ide::Span::new(0, 0));
    let to_ogx = offers.iter().find(|offer| offer.target == ide::MigrationTarget::Ogx { same_name: false }).unwrap();
    assert_eq!(to_ogx.refused, None);
    assert!(to_ogx.title.ends_with("together with its patches"), "{}", to_ogx.title);
    let migrated = ide::accept_migration(&about, to_ogx).unwrap();
    let texts = files.edited(&migrated.others);
    expect![[r#"
        resources: [../base]
        patches:
        - target: {kind: OGXServer, version: v1beta1}
          patch: |-
            # for production
            - {op: replace, path: /spec/workload/replicas, value: 3}
    "#]]
    .assert_eq(&texts["ov/kustomization.yaml"]);
    let offer = offers.remove(0);
    let migrated = ide::accept_migration(&about, &offer).unwrap();
    let texts = files.edited(&migrated.others);
    assert!(texts["ov/kustomization.yaml"].ends_with(
        "- target: {kind: LlamaStackDistribution, version: v1alpha2}\n  patch: |-\n    # for production\n    \
         - {op: replace, path: /spec/workload/replicas, value: 3}\n"
    ));
    assert_eq!(migrated.lines().len(), 2, "{:?}", migrated.lines());
    // what the command of other editors does is the same
    assert_eq!(ide::migrate(&about, 0, ide::MigrateOptions::default()), Ok(migrated));
}

#[test]
fn a_resource_is_not_migrated_without_its_patches() {
    let sleeping = OLD.replace("version: v1alpha1}", "version: v1alpha2}");
    let why = "../ov/kustomization.yaml takes a patch for the other version, which does not apply now";
    let files = Files::new(&sleeping);
    assert_eq!(migrations(&files), [why]);
    let about = files.about("base/stack.yaml");
    let refused = ide::migrate(&about, 0, ide::MigrateOptions::default()).unwrap_err();
    assert_eq!(refused.to_string(), why);
    assert!(!ide::lenses(files.analysis("base/stack.yaml")).is_empty());
}
