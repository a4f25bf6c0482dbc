//! The texts that the replay types, byte by byte.

use std::fs;
use std::path::{Path, PathBuf};

/// A text that somebody could have written.
pub(crate) struct File {
    pub(crate) name: String,
    pub(crate) text: String,
}

/// The samples with their configs, the files beside these tests, and the resources of the cases. `LLSD_REPLAY` names
/// a folder with more. `LLSD_REPLAY_LIST`, set to anything, prints every step that disturbs.
pub(crate) fn all() -> Vec<File> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = manifests(&here.join("tests/ide/files"));
    assert!(found.len() >= 25);
    found.extend(manifests(&here.join("../samples")));
    found.extend(golden(&here.join("../tests/golden")));
    found.extend(cases(&here.join("../tests/cases")));
    if let Some(more) = std::env::var_os("LLSD_REPLAY") {
        found.extend(manifests(Path::new(&more)));
    }
    found
}

/// Resources that the order of completion is measured on, and never tuned on.
pub(crate) fn held_out() -> Vec<File> {
    manifests(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ide/held_out"))
}

fn names(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.sort();
    found
}

fn named(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|extension| extension == ending)
}

fn manifests(folder: &Path) -> Vec<File> {
    let paths = names(folder).into_iter().filter(|path| named(path, "yaml"));
    paths.map(|path| File { name: path.display().to_string(), text: fs::read_to_string(&path).unwrap() }).collect()
}

/// Configs as they are generated: files without a resource.
fn golden(folder: &Path) -> Vec<File> {
    let chosen = ["only-inference", "postgres-demo"];
    chosen.into_iter().flat_map(|name| manifests(&folder.join(name))).collect()
}

/// The YAML blocks of the pages, without marks and cursors.
fn cases(folder: &Path) -> Vec<File> {
    let mut found = Vec::new();
    for path in names(folder).into_iter().filter(|path| named(path, "md")) {
        let page = fs::read_to_string(&path).unwrap();
        for (number, block) in page.split("```yaml\n").skip(1).enumerate() {
            let block = block.split("```").next().unwrap_or_default();
            let text: String = block.split_inclusive('\n').filter(|line| !is_mark(line)).collect();
            found.push(File { name: format!("{} block {number}", path.display()), text: text.replacen("$0", "", 1) });
        }
    }
    found
}

fn is_mark(line: &str) -> bool {
    line.starts_with('#') && line.trim_start_matches(['#', '<', ' ']).starts_with('^')
}
