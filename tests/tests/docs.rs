//! What the documentation leads to is there.

use regex::Regex;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Files that Git knows, as paths from the root.
fn files(root: &Path) -> Vec<String> {
    let listed = Command::new("git").arg("ls-files").current_dir(root).output().expect("git runs");
    let listed = String::from_utf8(listed.stdout).expect("UTF-8");
    listed.lines().map(str::to_owned).collect()
}

#[test]
fn links_and_names_of_files_lead_somewhere() {
    let root: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let files = files(&root);
    let link = Regex::new(r"\]\(([^)#\s]+)(?:#[^)\s]*)?\)").unwrap();
    // A path in backquotes, with what may follow it: `server/src/main.rs:12`, `walls.rs`.
    let named = Regex::new(r"`([\w.-]+(?:/[\w.-]+)*\.(?:rs|md|sh|lua|el|mjs|py))(?:[:#][^`]*)?`").unwrap();
    let mut lost = Vec::new();
    let mut seen = 0;
    for file in files.iter().filter(|file| file.ends_with(".md") && !file.starts_with("tests/cases/")) {
        let text = fs::read_to_string(root.join(file)).unwrap();
        let folder = root.join(file).parent().unwrap().to_owned();
        for found in link.captures_iter(&text).map(|found| found[1].to_owned()) {
            seen += 1;
            if !found.contains(':') && !folder.join(&found).exists() {
                lost.push(format!("{file}: link to {found}"));
            }
        }
        for found in named.captures_iter(&text).map(|found| found[1].to_owned()) {
            seen += 1;
            let ends = format!("/{found}");
            let is_one = |known: &String| *known == found || known.ends_with(&ends);
            if !folder.join(&found).exists() && !files.iter().any(is_one) {
                lost.push(format!("{file}: {found}"));
            }
        }
    }
    assert!(seen > 100, "only {seen} links and names were found");
    assert!(lost.is_empty(), "{}", lost.join("\n"));
}
