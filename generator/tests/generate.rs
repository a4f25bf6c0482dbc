//! The config of every golden case, byte for byte. `UPDATE_EXPECT=1` rewrites the expected files.
use llsd_generator::api::ApiVersion;
use llsd_generator::check::{Facts, Request, Validated, verdict};
use llsd_generator::generate::{Base, BaseSource, Generated, Origin, generate, target};
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

/// The config counts, whatever the label beside it says.
#[test]
fn labels_that_do_not_go_together_are_remarked() {
    let model = model(
        "apiVersion: llamastack.io/v1alpha2\nkind: LlamaStackDistribution\nmetadata: {name: a}\nspec:\n  \
         distribution: {image: \"quay.io/x/y:0.4.7\"}\n  disabled: [safety]\n",
    );
    let warnings = |label: Option<&str>, text: &'static str| -> Vec<String> {
        let source = BaseSource::OciLabel { image: "quay.io/x/y:0.4.7".to_owned(), version: label.map(str::to_owned) };
        let base = Base { text: text.into(), source };
        let generated = generate(&model, &base, target(model.spec()).0).unwrap();
        generated.warnings.iter().map(|one| format!("{}: {one}", one.path())).collect()
    };
    for (label, text) in [(Some(" 2 "), "version: \"2\"\n"), (None, "version: 2\n"), (Some("1"), "apis: [safety]\n")] {
        assert_eq!(warnings(label, text), Vec::<String>::new(), "{label:?}");
    }
    for label in ["1", "v2", "", "2.0"] {
        let told = warnings(Some(label), "version: 2\n");
        let expected = format!(
            "spec.distribution.image: The labels of quay.io/x/y:0.4.7 say that its config has version {label}, and the config \
             has version 2, which counts"
        );
        assert!(told.len() == 1 && told[0].starts_with(&expected), "{told:?}");
    }
}
