//! Resources of one name in several files: which of them are told, and which are not.

use crate::ide::files::Files;
use expect_test::{Expect, expect};
use std::fmt::Write;

/// The fixture, in which `NAME` stands for a whole resource of this name: `v2 demo`, `v1 demo`, `v2 team/demo`.
fn files(fixture: &str) -> Files {
    let mut text = String::new();
    for line in fixture.lines() {
        let Some((version, name)) = line.trim().split_once(' ').filter(|(version, _)| ["v1", "v2"].contains(version))
        else {
            writeln!(text, "{line}").unwrap();
            continue;
        };
        let (namespace, name) = name.split_once('/').unwrap_or(("", name));
        let namespace = if namespace.is_empty() { String::new() } else { format!(", namespace: \"{namespace}\"") };
        let (version, spec) = match version {
            "v1" => ("v1alpha1", "{server: {distribution: {name: starter}}}"),
            _ => ("v1alpha2", "{distribution: {name: starter}}"),
        };
        write!(
            text,
            "---\napiVersion: llamastack.io/{version}\nkind: LlamaStackDistribution\nmetadata: {{name: {name}{namespace}}}\n\
             spec: {spec}\n"
        )
        .unwrap();
    }
    Files::new(&text)
}

/// `file: severity message -> other file`, a line each.
fn told(files: &Files) -> String {
    let mut all = String::new();
    for name in files.names() {
        for found in files.analysis(&name).diagnostics() {
            write!(all, "{name}: {:?} {}", found.severity, found.message).unwrap();
            let other = found.elsewhere.and_then(|other| {
                let span = files.analysis(&other.file?).named_at(&other.resource, None)?;
                Some(span.start)
            });
            if let Some(at) = other {
                write!(all, " -> {at}").unwrap();
            }
            for (span, _) in found.related {
                write!(all, " -> {}", span.start).unwrap();
            }
            all.push('\n');
        }
    }
    all
}

fn check(fixture: &str, expected: Expect) {
    expected.assert_eq(&told(&files(fixture)));
}

fn silent(fixture: &str) {
    assert_eq!(told(&files(fixture)), "", "{fixture}");
}

#[test]
fn a_kustomization_that_lists_both() {
    check(
        "#- k/kustomization.yaml\nresources: [a.yaml, ./sub/b.yaml, ns.yaml]\n#- k/a.yaml\nv2 demo\n#- k/sub/b.yaml\nv2 demo\n",
        expect![[r#"
            k/a.yaml: Error LlamaStackDistribution "demo" is in sub/b.yaml too, and kustomization.yaml lists both files: the one that is applied last replaces the other -> 85
            k/sub/b.yaml: Error LlamaStackDistribution "demo" is in a.yaml too, and kustomization.yaml lists both files: the one that is applied last replaces the other -> 85
        "#]],
    );
    // also of several versions, in folders of any name, and whatever else is listed
    check(
        "#- samples/kustomization.yml\nkind: Kustomization\nresources:\n- stack-dev.yaml\n- stack-prod.yaml\n- third.yaml\n\
         #- samples/stack-dev.yaml\nv1 team/demo\n#- samples/stack-prod.yaml\nv2 team/demo\n#- samples/third.yaml\nv2 demo\n",
        expect![[r#"
            samples/stack-dev.yaml: Error LlamaStackDistribution "demo" is in stack-prod.yaml too, and kustomization.yml lists both files: the one that is applied last replaces the other -> 85
            samples/stack-prod.yaml: Error LlamaStackDistribution "demo" is in stack-dev.yaml too, and kustomization.yml lists both files: the one that is applied last replaces the other -> 85
        "#]],
    );
}

#[test]
fn a_name_twice_in_one_file_points_at_the_other() {
    check(
        "#- a.yaml\nv2 demo\nv2 demo\n",
        expect![[r#"
            a.yaml: Error Another LlamaStackDistribution is called "demo" in the same namespace -> 214
            a.yaml: Error Another LlamaStackDistribution is called "demo" in the same namespace -> 85
        "#]],
    );
}

#[test]
fn what_is_no_mistake_is_not_told() {
    // another folder
    silent("#- dev/stack.yaml\nv2 demo\n#- prod/stack.yaml\nv2 demo\n");
    // one folder: environments, copies, examples and versions lie side by side, and are applied one by one
    silent("#- deploy/stack.yaml\nv2 demo\n#- deploy/stack-2.yaml\nv2 demo\n");
    // base and overlays: what patches is not listed as a resource, and a base is listed as a folder
    silent(
        "#- base/kustomization.yaml\nresources: [stack.yaml]\n#- base/stack.yaml\nv2 demo\n\
         #- prod/kustomization.yaml\nresources: [../base]\npatches:\n- path: stack.yaml\n#- prod/stack.yaml\nv2 demo\n",
    );
    silent(
        "#- k/kustomization.yaml\nresources: [stack.yaml]\npatchesStrategicMerge: [more.yaml]\n#- k/stack.yaml\nv2 demo\n\
         #- k/more.yaml\nv2 demo\n",
    );
    // two kustomizations
    silent(
        "#- a/kustomization.yaml\nresources: [s.yaml]\n#- a/s.yaml\nv2 demo\n#- b/kustomization.yaml\nresources: [s.yaml]\n\
         #- b/s.yaml\nv2 demo\n",
    );
    let both = "#- k/kustomization.yaml\nresources: [a.yaml, b.yaml]\n";
    // another name or namespace, or perhaps another namespace
    silent(&format!("{both}#- k/a.yaml\nv2 demo\n#- k/b.yaml\nv2 demo2\n"));
    silent(&format!("{both}#- k/a.yaml\nv2 one/demo\n#- k/b.yaml\nv2 two/demo\n"));
    silent(&format!("{both}#- k/a.yaml\nv2 demo\n#- k/b.yaml\nv2 two/demo\n"));
    // another kind
    silent(&format!(
        "{both}#- k/a.yaml\nv2 demo\n#- k/b.yaml\napiVersion: v1\nkind: Secret\nmetadata: {{name: demo}}\n"
    ));
}
