//! llama-stack accepts every config of the repository, and reads every key in it.

use std::path::PathBuf;

use llsd_generator::distribution::{BaseConfig, Distributions};
use llsd_tests::llama_stack::{Folder, Remark, validate};

use crate::server::samples::{generated, root, samples, written};

pub(crate) fn assert_accepted(configs: &[(String, String)]) {
    assert!(!configs.is_empty());
    let folder = Folder::new("configs").unwrap();
    let mut files: Vec<PathBuf> = Vec::new();
    for (number, (_, text)) in configs.iter().enumerate() {
        files.push(folder.path().join(format!("{number}.yaml")));
        std::fs::write(&files[number], text).unwrap();
    }
    for (verdict, (name, _)) in validate(&files).unwrap().iter().zip(configs) {
        // Nobody reads the port of the file, but people do: the operator sets LLAMA_STACK_PORT to the same.
        let ignored: Vec<&Remark> = verdict.warnings.iter().filter(|remark| remark.path != "server.port").collect();
        assert!(verdict.errors.is_empty() && ignored.is_empty(), "{name}: {verdict:#?}");
    }
}

#[test]
fn base_configs_are_accepted() {
    let configs: Vec<_> = Distributions::embedded()
        .iter()
        .map(|found| (found.name.clone(), BaseConfig::embedded(&found.name).unwrap().to_owned()))
        .collect();
    assert_eq!(configs.len(), 4);
    assert_accepted(&configs);
}

#[test]
fn configs_of_the_samples_are_accepted() {
    let mut configs = Vec::new();
    for (name, text) in samples() {
        configs.extend(generated(&text).into_iter().map(|made| (name.clone(), made.config.text().to_owned())));
        configs.extend(written(&text).into_iter().map(|config| (name.clone(), config)));
    }
    assert_accepted(&configs);
}

#[test]
fn golden_configs_are_accepted() {
    // One folder per case of the generator's tests, which see to it that these are what is generated.
    let folders = std::fs::read_dir(root().join("tests/golden")).unwrap();
    let files = folders.map(|entry| entry.unwrap().path().join("config.yaml")).filter(|file| file.is_file());
    let configs: Vec<_> =
        files.map(|file| (file.display().to_string(), std::fs::read_to_string(file).unwrap())).collect();
    assert_accepted(&configs);
}
