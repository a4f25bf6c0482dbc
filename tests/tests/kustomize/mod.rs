//! Kustomizations, beside the real kustomize: what a merge comes to, where findings are placed, what a migration does
//! to what is built.

mod check;
mod editor;
mod helm;
mod merge;
mod migrate;
mod ogx;
mod trees;

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// The folder with `kubectl`, built from the version that `tests/cluster/go.mod` names.
fn programs() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("cluster/build.sh");
        let output = Command::new("bash").arg(script).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().into()
    })
}

/// Files in a folder that goes away with the test.
struct Tree(PathBuf);

impl Tree {
    /// The fixture is one text, in which `#- name` starts a file.
    fn new(name: &str, fixture: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("llsd-kustomize-test-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        let mut files: Vec<(&str, String)> = Vec::new();
        for line in fixture.split_inclusive('\n') {
            match line.strip_prefix("#- ") {
                Some(file) => files.push((file.trim(), String::new())),
                None => files.last_mut().unwrap().1.push_str(line),
            }
        }
        for (file, text) in files {
            let path = folder.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Self(fs::canonicalize(folder).unwrap())
    }

    /// What kustomize builds from a folder, or what it says against it.
    fn build(&self, folder: &str) -> Result<String, String> {
        let output =
            Command::new(programs().join("kubectl")).arg("kustomize").arg(self.0.join(folder)).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        if output.status.success() { Ok(text(output.stdout)) } else { Err(text(output.stderr)) }
    }

    /// Runs llsd here, with the programs on its PATH.
    fn llsd(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(llsd_tests::llsd::binary());
        command.args(arguments).current_dir(&self.0).env("PATH", programs()).output().unwrap()
    }

    /// Every file and its text.
    fn files(&self) -> Vec<(PathBuf, String)> {
        let (mut found, mut open) = (Vec::new(), vec![self.0.clone()]);
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    open.push(path);
                } else {
                    let text = fs::read_to_string(&path).unwrap();
                    found.push((path, text));
                }
            }
        }
        found.sort();
        found
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The documents of a text.
fn documents(text: &str) -> Vec<Value> {
    let read = |span: llsd_yaml::Span| {
        llsd_generator::document::Plain::read(&llsd_yaml::parse_document(span.slice(text))).value
    };
    llsd_yaml::split_documents(text).into_iter().map(read).filter(|value| !value.is_null()).collect()
}
