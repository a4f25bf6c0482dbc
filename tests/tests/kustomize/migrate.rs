//! A migration and kustomizations: what is built before and after means the same.

use super::trees::TREES;
use super::{Tree, documents};
use serde_json::Value;
use std::io::Write;
use std::process::{Command, Stdio};

/// All resources of a built text in the newer version, each as a migration of its own would make it.
fn migrated(built: &str) -> Vec<Value> {
    let mut child = Command::new(llsd_tests::llsd::binary())
        .args(["migrate", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(built.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    documents(&String::from_utf8(output.stdout).unwrap())
}

/// Whether every resource is as it was, or as its migration makes it.
fn mean_the_same(was: &[Value], is: &[Value], migrated: &[Value]) -> bool {
    was.len() == is.len() && is.iter().all(|value| was.contains(value) || migrated.contains(value))
}

#[test]
fn what_is_built_means_the_same_before_and_after() {
    let (mut left, mut done, mut overlays) = (0, 0, 0);
    for (name, builds, fixture) in TREES {
        let tree = Tree::new(&format!("migrate-{name}"), fixture);
        let before: Vec<String> = builds.iter().map(|folder| tree.build(folder).unwrap()).collect();
        let files = tree.files();
        let ran = tree.llsd(&["migrate", ".", "--write"]);
        let said = String::from_utf8(ran.stderr).unwrap();
        let changed = tree.files() != files;
        for (folder, before) in builds.iter().zip(&before) {
            overlays += 1;
            let after = tree.build(folder).unwrap_or_else(|error| panic!("{name}/{folder}: {error}\n{said}"));
            let (was, is) = (documents(before), documents(&after));
            assert!(
                mean_the_same(&was, &is, &migrated(before)),
                "{name}/{folder}: something else is built\n{said}\nbefore:\n{before}\nafter:\n{after}"
            );
        }
        // what is left is told, with the reason
        assert!(!said.contains("not migrated: ") || ran.status.code() == Some(1), "{name}: {said}");
        match changed {
            true => done += 1,
            false => left += 1,
        }
        assert!(changed || said.contains("not migrated: "), "{name}: nothing was done, nor said\n{said}");
    }
    assert!(TREES.len() >= 20 && left >= 10 && done >= 6, "{left} left, {done} migrated, {overlays} overlays");
    println!("{} trees, {overlays} overlays: {done} migrated, {left} left", TREES.len());
}
