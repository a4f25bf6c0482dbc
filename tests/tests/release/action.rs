//! The script behind the GitHub Action, in a repository with two commits.

use super::{Folder, repository};
use llsd_tests::llsd;
use std::fs;
use std::process::{Command, Output};

const GOOD: &str = "\
apiVersion: llamastack.io/v1alpha2
kind: LlamaStackDistribution
metadata:
  name: good
spec:
  distribution:
    name: starter
";

fn git(folder: &Folder, arguments: &[&str]) -> String {
    let identity = ["-c", "user.name=test", "-c", "user.email=test@localhost", "-c", "init.defaultBranch=main"];
    let ran = Command::new("git").args(identity).args(arguments).current_dir(&folder.0).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).unwrap().trim().to_owned()
}

/// A repository whose second commit changed one of two wrong files, and the commit before it.
fn repository_with_a_change(name: &str) -> (Folder, String) {
    let folder = Folder::new(name);
    let wrong = GOOD.replace("starter", "startr");
    fs::write(folder.0.join("old.yaml"), &wrong).unwrap();
    fs::write(folder.0.join("good.yaml"), GOOD).unwrap();
    git(&folder, &["init", "--quiet"]);
    git(&folder, &["add", "."]);
    git(&folder, &["commit", "--quiet", "-m", "first"]);
    let base = git(&folder, &["rev-parse", "HEAD"]);
    fs::write(folder.0.join("a change.yaml"), &wrong).unwrap();
    git(&folder, &["add", "."]);
    git(&folder, &["commit", "--quiet", "-m", "second"]);
    (folder, base)
}

fn action(folder: &Folder, inputs: &[(&str, &str)]) -> Output {
    let runner = folder.0.join(".git/runner");
    fs::create_dir_all(&runner).unwrap();
    Command::new(repository("release/action.sh"))
        .current_dir(&folder.0)
        .env("BINARY", llsd::binary())
        .env("RUNNER_TEMP", &runner)
        .env("GITHUB_OUTPUT", runner.join("output"))
        .envs(inputs.iter().copied())
        .output()
        .unwrap()
}

#[test]
fn all_files_are_checked_and_annotated() {
    let (folder, _) = repository_with_a_change("action-all");
    let ran = action(&folder, &[("SARIF", "true")]);
    let annotations = String::from_utf8(ran.stdout).unwrap();
    assert_eq!(ran.status.code(), Some(1), "{}", String::from_utf8_lossy(&ran.stderr));
    assert!(annotations.contains("file=old.yaml"), "{annotations}");
    assert!(annotations.contains("file=a change.yaml"), "{annotations}");
    let outputs = fs::read_to_string(folder.0.join(".git/runner/output")).unwrap();
    let sarif = outputs.trim().strip_prefix("sarif=").unwrap();
    let sarif: serde_json::Value = serde_json::from_str(&fs::read_to_string(sarif).unwrap()).unwrap();
    assert_eq!(sarif["runs"][0]["results"].as_array().unwrap().len(), 2);
}

#[test]
fn only_changed_files_are_checked_if_that_is_wanted() {
    let (folder, base) = repository_with_a_change("action-changed");
    let ran = action(&folder, &[("CHANGED_ONLY", "true"), ("BASE", &base)]);
    let annotations = String::from_utf8(ran.stdout).unwrap();
    assert_eq!(ran.status.code(), Some(1));
    assert!(!annotations.contains("old.yaml"), "{annotations}");
    assert!(annotations.contains("file=a change.yaml"), "{annotations}");

    let same = action(&folder, &[("CHANGED_ONLY", "true"), ("BASE", "HEAD")]);
    assert_eq!(same.status.code(), Some(0), "{}", String::from_utf8_lossy(&same.stdout));
}

#[test]
fn everything_is_checked_where_there_is_no_commit_to_compare_with() {
    let (folder, _) = repository_with_a_change("action-shallow");
    let ran = action(&folder, &[("CHANGED_ONLY", "true"), ("BASE", "0000000000000000000000000000000000000000")]);
    let annotations = String::from_utf8(ran.stdout).unwrap();
    assert!(annotations.contains("::notice title=llsd::There is no commit to compare with"), "{annotations}");
    assert!(annotations.contains("old.yaml"), "{annotations}");
}

#[test]
fn an_input_is_never_part_of_a_command() {
    let (folder, _) = repository_with_a_change("action-hostile");
    let ran =
        action(&folder, &[("PATHS", "$(touch made)\n; touch made\n--help"), ("ARGUMENTS", "--severity; touch made")]);
    assert_eq!(ran.status.code(), Some(2), "{}", String::from_utf8_lossy(&ran.stdout));
    assert!(!folder.0.join("made").exists());
}
