//! llama-stack accepts every config of the repository, and reads every key in it.

use std::path::{Path, PathBuf};

use llsd_generator::distribution::{BaseConfig, Distributions};
use llsd_tests::llama_stack::{Folder, Verdict, validate};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

pub(crate) fn assert_accepted(verdicts: &[Verdict]) {
    let refused: Vec<_> = verdicts.iter().filter(|verdict| !verdict.ok).collect();
    assert!(refused.is_empty(), "{refused:#?}");
}

#[test]
fn base_configs_are_accepted() {
    let folder = Folder::new("base").unwrap();
    let files: Vec<PathBuf> = Distributions::embedded()
        .iter()
        .map(|found| {
            let file = folder.path().join(format!("{}.yaml", found.name));
            std::fs::write(&file, BaseConfig::embedded(&found.name).unwrap()).unwrap();
            file
        })
        .collect();
    assert_eq!(files.len(), 4);
    assert_accepted(&validate(&files).unwrap());
}

#[test]
fn golden_configs_are_accepted() {
    // The goldens are what the generator's tests compare with, one folder per case.
    let Ok(folders) = std::fs::read_dir(root().join("tests/golden")) else { return };
    let files: Vec<PathBuf> =
        folders.map(|entry| entry.unwrap().path().join("config.yaml")).filter(|file| file.is_file()).collect();
    if !files.is_empty() {
        assert_accepted(&validate(&files).unwrap());
    }
}
