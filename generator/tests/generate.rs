//! The config of every golden case, byte for byte. `UPDATE_EXPECT=1` rewrites the expected files.
use llsd_generator::api::ApiVersion;
use llsd_generator::check::{Facts, Request, Validated, verdict};
use llsd_generator::generate::{Base, Generated, Origin, generate, target};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn cases() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/golden");
    let mut cases: Vec<PathBuf> = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.sort();
    cases
}

fn model(text: &str) -> Validated {
    let value: Value = serde_yaml::from_str(text).unwrap();
    let request = Request {
        version: ApiVersion::V1Alpha2,
        value: &value,
        old: None,
        unknown: &BTreeSet::new(),
        facts: &Facts::default(),
    };
    let outcome = verdict(&request);
    outcome.model.unwrap_or_else(|| panic!("not valid: {:#?}", outcome.findings))
}

fn generated(text: &str) -> Generated {
    let model = model(text);
    let base = Base::embedded(&model.spec().distribution, None).unwrap();
    generate(&model, &base, target(model.spec()).0).unwrap()
}

#[test]
fn golden() {
    let update = std::env::var_os("UPDATE_EXPECT").is_some();
    for case in cases() {
        let resource = std::fs::read_to_string(case.join("resource.yaml")).unwrap();
        let Generated { config, .. } = generated(&resource);
        let expected = case.join("config.yaml");
        if update {
            std::fs::write(&expected, config.text()).unwrap();
        }
        let expected = std::fs::read_to_string(expected).unwrap();
        assert_eq!(config.text(), expected, "{}", case.display());
    }
}

#[test]
fn every_line_has_an_origin_in_the_resource_or_the_base() {
    for case in cases() {
        let resource = std::fs::read_to_string(case.join("resource.yaml")).unwrap();
        let model = model(&resource);
        let base = Base::embedded(&model.spec().distribution, None).unwrap();
        let Generated { config, .. } = generated(&resource);
        assert_eq!(config.text().lines().count(), config.lines().len());
        let base_lines: Vec<&str> = base.text.lines().collect();
        for (line, origin) in config.text().lines().zip(config.lines()) {
            if let Origin::Base { line: number } = origin {
                let key = line.trim_start_matches(['-', ' ']).split(':').next().unwrap().trim_matches('"');
                let there = base_lines[*number];
                assert!(there.contains(key), "{}: {line:?} is said to come from {there:?}", case.display());
            }
        }
    }
}
