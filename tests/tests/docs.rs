//! What the documentation leads to is there.

use regex::Regex;
use std::collections::HashMap;
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

/// The pages of the site: each one is in the table of contents, and none leads out of it by a path.
#[test]
fn every_page_is_in_the_site() {
    let root: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let contents = fs::read_to_string(root.join("docs/SUMMARY.md")).unwrap();
    let lost: Vec<_> = files(&root)
        .into_iter()
        .filter_map(|file| file.strip_prefix("docs/").map(str::to_owned))
        .filter(|page| page.ends_with(".md") && !page.contains('/') && page != "SUMMARY.md")
        .filter(|page| !contents.contains(&format!("]({page})")))
        .collect();
    assert!(lost.is_empty(), "docs/SUMMARY.md does not list {lost:?}");
}

/// What mdBook makes of the pages: no warning, and each link leads to a page and a heading that there are.
#[test]
fn the_site_is_built_and_its_links_lead_somewhere() {
    let root: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let tool = Command::new(root.join("tests/setup/cargo-tool.sh")).arg("mdbook").output().unwrap();
    assert!(tool.status.success(), "{}", String::from_utf8_lossy(&tool.stderr));
    let site = std::env::temp_dir().join(format!("llsd-site-{}", std::process::id()));
    let built = Command::new(String::from_utf8(tool.stdout).unwrap().trim())
        .args(["build", "--dest-dir"])
        .arg(&site)
        .arg(root.join("docs"))
        .output()
        .unwrap();
    let log = String::from_utf8_lossy(&built.stderr);
    assert!(built.status.success() && !log.contains("WARN") && !log.contains("ERROR"), "{log}");

    let pages: HashMap<String, String> = fs::read_dir(&site)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".html") && !["print.html", "toc.html", "404.html"].contains(&name.as_str()))
        .map(|name| (name.clone(), fs::read_to_string(site.join(name)).unwrap()))
        .collect();
    let link = Regex::new(r#"<a [^>]*href="([^":]+)""#).unwrap();
    let mut lost = Vec::new();
    let mut seen = 0;
    for (name, text) in &pages {
        for found in link.captures_iter(text).map(|found| found[1].to_owned()) {
            seen += 1;
            let (page, id) = found.split_once('#').unwrap_or((&found, ""));
            let target = if page.is_empty() { Some(text) } else { pages.get(page) };
            let leads = match target {
                Some(target) => id.is_empty() || target.contains(&format!("id=\"{id}\"")),
                None => id.is_empty() && site.join(page).exists(),
            };
            if !leads {
                lost.push(format!("{name}: {found}"));
            }
        }
    }
    fs::remove_dir_all(site).unwrap();
    assert!(seen > 300, "only {seen} links were found");
    assert!(lost.is_empty(), "{}", lost.join("\n"));
}

/// What a reader copies from the guides is a resource without a fault.
#[test]
fn resources_in_the_guides_are_right() {
    let root: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for page in ["README.md", "docs/first-resource.md", "docs/resource.md", "docs/external-providers.md"] {
        let mut check = Command::new(llsd_tests::llsd::binary());
        let checked = check.args(["check", page]).current_dir(&root).output().unwrap();
        let said = String::from_utf8_lossy(&checked.stdout);
        assert!(checked.status.success(), "{said}");
        assert!(said.contains("1 resource in 1 file"), "{said}");
    }
}
