//! `llsd` accepts the configs that the server accepts, and refuses those that it refuses, version by version.
//!
//! Configs of the repository are changed at one place each, in every way that `mutations` lists. The installed package
//! says whether it would start. Where it would not, we have to speak of an error, at the same place; where it would, we
//! may warn and not speak of an error. What differs is in [`EXPLAINED`], with the reason.

mod mutations;
mod places;

pub(crate) use mutations::switch_on;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use llsd_generator::catalog::Catalog;
use llsd_generator::check::finding::{Finding, Severity};
use llsd_generator::check::rules::server_config::RENAMED_KEY;
use llsd_generator::config::{Request, check, is_config};
use llsd_generator::distribution::BaseConfig;
use llsd_generator::path::Path as LlsdPath;
use llsd_tests::llama_stack::{Folder, NEWEST, VERSION, Verdict, validate_leniently};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::server::samples::{documents, root, samples, try_generate};

/// Folders or files, separated by `:`, whose configs are compared too by the tests that are run by hand.
const FOLDERS: &str = "LLSD_PARITY_FOLDERS";

/// Differences that stay, by a part of a message of either side, with the reason.
const EXPLAINED: &[(&str, &str)] = &[
    ("needs \"base_url\" for remote::tgi", "the schema has a default of none, and the provider exits when it is made"),
    ("refuses \"base_url\" of remote::tgi", "the same, with null"),
    ("needs \"persistence\" for remote::pgvector", "as for TGI: the schema allows none, and the provider crashes"),
    ("refuses \"persistence\" of remote::pgvector", "the same, with null"),
    ("does not put in ${env.", "the server starts, with a text that is no address and no key"),
    ("serves plain HTTP", "the config is accepted, and the server starts without the TLS that was asked for, or exits"),
    ("does not accept the default of", "a variable that is set may have a value that fits: we warn"),
    ("is set: without it", "the same, where nothing is the default"),
    ("via `module` in the Provider spec", "a module of one's own is not installed for the tests"),
];

/// A config to compare: where it comes from, what was changed, and the config.
struct Case {
    from: String,
    change: &'static str,
    config: Value,
}

/// What each side says of a case.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Outcome {
    BothAccept,
    /// Both refuse, and name at least one place that is the same.
    BothRefuse,
    Explained,
    /// Both refuse, and name no place that is the same.
    OtherPlace,
    /// The package refuses, and we speak of a warning, at the same place.
    Warned,
    /// The package refuses, and we say nothing of it.
    Laxer,
    /// The package accepts, and we speak of an error.
    Stricter,
}

/// The configs of the repository for a version: base configs, and what the samples generate on its starter image.
pub(crate) fn configs(version: &str) -> Vec<(String, Value)> {
    let mut texts: BTreeMap<String, String> = BTreeMap::new();
    for base in BaseConfig::all().iter().filter(|base| base.version == version) {
        texts.insert(base.text.to_owned(), base.distribution.to_owned());
    }
    for (name, text) in samples() {
        for mut resource in documents(&text) {
            if resource["apiVersion"] != "llamastack.io/v1alpha2" {
                continue;
            }
            if version != VERSION {
                let image = format!("docker.io/llamastack/distribution-starter:{version}");
                resource["spec"]["distribution"] = json!({"image": image});
            }
            // Not every version has every provider.
            if let Ok(Some(made)) = try_generate(&resource) {
                texts.insert(made.config.text().to_owned(), name.clone());
            }
        }
    }
    if version == VERSION {
        for entry in std::fs::read_dir(root().join("tests/golden")).unwrap() {
            let file = entry.unwrap().path().join("config.yaml");
            texts.extend(std::fs::read_to_string(&file).ok().map(|text| (text, file.display().to_string())));
        }
    }
    let read = |text: &str| serde_yaml::from_str(text).expect("a config of the repository is YAML");
    texts.into_iter().map(|(text, name)| (name, read(&text))).collect()
}

/// Each config as it is and changes of it, `changes` of all configs together.
fn cases(version: &str, changes: usize) -> Vec<Case> {
    let mut all = Vec::new();
    let configs = configs(version);
    let each = changes.div_ceil(configs.len());
    for (from, mut config) in configs {
        all.push(Case { from: from.clone(), change: "none", config: config.clone() });
        mutations::switch_on(&mut config);
        let changed = mutations::of(&config, each).into_iter();
        all.extend(changed.map(|(change, place, config)| Case { from: format!("{from} {place}"), change, config }));
    }
    all
}

/// What we say of a config: place and message of each error, and of each warning.
fn said_by_us(version: &str, config: &Value) -> [Vec<(String, String)>; 2] {
    let unknown = BTreeSet::new();
    let verdict = check(&Request { config, unknown: &unknown, version: Some(version) });
    let of = |severity: Severity| {
        let said = verdict.findings.iter().filter(|finding| finding.severity == severity);
        said.map(|finding| (place(finding).to_string(), finding.message.clone())).collect()
    };
    [of(Severity::Error), of(Severity::Warning)]
}

/// Where a finding stands. A key that is missing, because it is written under its old name, is missing in the mapping.
fn place(finding: &Finding) -> LlsdPath {
    let mapping = finding.path.parent().filter(|_| *finding.rule == RENAMED_KEY);
    mapping.unwrap_or_else(|| finding.path.clone())
}

fn outcome(case: &Case, verdict: &Verdict, [errors, warnings]: &[Vec<(String, String)>; 2]) -> Outcome {
    let theirs: Vec<Vec<String>> = verdict.errors.iter().map(|one| places::segments(&case.config, &one.path)).collect();
    let meets = |said: &[(String, String)]| {
        said.iter().any(|(path, _)| {
            let ours = places::segments(&case.config, path);
            theirs.iter().any(|place| places::meet(place, &ours))
        })
    };
    let found = match (verdict.ok, errors.is_empty()) {
        (true, true) => Outcome::BothAccept,
        (true, false) => Outcome::Stricter,
        (false, false) if meets(errors) => Outcome::BothRefuse,
        (false, _) if meets(warnings) => Outcome::Warned,
        (false, false) => Outcome::OtherPlace,
        (false, true) => Outcome::Laxer,
    };
    let said = if found == Outcome::Warned { warnings } else { errors };
    let mut messages = verdict.errors.iter().map(|one| &one.message).chain(said.iter().map(|(_, message)| message));
    let explained = messages.any(|text| EXPLAINED.iter().any(|(part, _)| text.contains(part)));
    if explained && !matches!(found, Outcome::BothAccept | Outcome::BothRefuse) { Outcome::Explained } else { found }
}

/// Compares all cases; a line for each kind of change goes to standard output, and what differs is returned.
#[expect(clippy::print_stdout, reason = "figures are worth a look")]
fn compare(version: &'static str, cases: &[Case]) -> Vec<String> {
    let folder = Folder::new("parity").unwrap();
    let files: Vec<PathBuf> = (0..cases.len()).map(|at| folder.path().join(format!("{at}.yaml"))).collect();
    for (file, case) in files.iter().zip(cases) {
        // JSON: serde_yaml writes texts as YAML 1.2 needs them, and PyYAML takes its `yes` for a boolean.
        std::fs::write(file, case.config.to_string()).unwrap();
    }
    let verdicts = validate_leniently(version, &files).unwrap();
    let mut table: BTreeMap<(&str, Outcome), usize> = BTreeMap::new();
    let mut different = Vec::new();
    for (case, verdict) in cases.iter().zip(&verdicts) {
        let said = said_by_us(version, &case.config);
        let outcome = outcome(case, verdict, &said);
        *table.entry((case.change, outcome)).or_default() += 1;
        *table.entry(("all", outcome)).or_default() += 1;
        if !matches!(outcome, Outcome::BothAccept | Outcome::BothRefuse | Outcome::Explained) {
            let theirs: Vec<String> =
                verdict.errors.iter().map(|one| format!("{}: {}", one.path, one.message)).collect();
            let [errors, warnings] = &said;
            different.push(format!(
                "{version} {outcome:?}: {} at {}\n  package:  {theirs:?}\n  errors:   {errors:?}\n  warnings: {warnings:?}",
                case.change, case.from
            ));
        }
    }
    println!("{version}: {} configs", cases.len());
    for ((change, outcome), count) in table {
        println!("{version}\t{change}\t{outcome:?}\t{count}");
    }
    different
}

fn assert_same(different: &[String]) {
    assert!(different.is_empty(), "{} differ:\n{}", different.len(), different.join("\n"));
}

#[test]
fn the_package_and_llsd_refuse_the_same_configs() {
    let mut different = Vec::new();
    for version in [VERSION, NEWEST] {
        let cases = cases(version, 600);
        assert!(cases.len() >= 400, "{}", cases.len());
        different.extend(compare(version, &cases));
    }
    assert_same(&different);
}

#[test]
#[ignore = "make parity: needs the packages of all versions, and minutes"]
fn all_packages_and_llsd_refuse_the_same_configs() {
    let mut different = Vec::new();
    for version in Catalog::versions() {
        let cases = cases(version, 1500);
        assert!(cases.len() >= 1000, "{}", cases.len());
        different.extend(compare(version, &cases));
    }
    assert_same(&different);
}

/// The configs in the files that [`FOLDERS`] names, each with its file. None, and a line that says so, where it names none.
#[expect(clippy::print_stdout, reason = "figures are worth a look")]
pub(crate) fn files() -> Vec<(String, Value)> {
    let Some(places) = std::env::var_os(FOLDERS).filter(|places| !places.is_empty()) else {
        println!("{FOLDERS} names no folders: nothing compared");
        return Vec::new();
    };
    let mut found = Vec::new();
    std::env::split_paths(&places).for_each(|place| below(&place, &mut found));
    assert!(!found.is_empty(), "there is no config in {}", places.display());
    found
}

/// Every config in the files below a place: by itself, or as a text in a ConfigMap.
#[expect(clippy::print_stdout, reason = "what is left out is told")]
fn below(place: &Path, found: &mut Vec<(String, Value)>) {
    if place.is_dir() {
        let mut inside: Vec<PathBuf> = std::fs::read_dir(place).unwrap().map(|entry| entry.unwrap().path()).collect();
        inside.sort();
        return inside.iter().for_each(|place| below(place, found));
    }
    let Ok(text) = std::fs::read_to_string(place) else { return };
    for document in serde_yaml::Deserializer::from_str(&text) {
        let Ok(value) = Value::deserialize(document) else { break };
        let inner = value["data"].as_object().into_iter().flatten().filter_map(|(_, text)| text.as_str());
        let inner = inner.filter_map(|text| serde_yaml::from_str(text).ok());
        let configs = inner.chain(std::iter::once(value.clone())).filter(is_config);
        let from = place.display().to_string();
        let (filled_in, whole): (Vec<Value>, Vec<Value>) = configs.partition(is_filled_in);
        if !filled_in.is_empty() {
            println!("{from}: not compared, as a shell or a template fills it in");
        }
        found.extend(whole.into_iter().map(|config| (from.clone(), config)));
    }
}

/// Whether some text of a config is none yet when it is written: `${NAME}`, which is not the server's.
fn is_filled_in(config: &Value) -> bool {
    match config {
        Value::String(text) => text.split("${").skip(1).any(|rest| !rest.starts_with("env.")),
        Value::Array(items) => items.iter().any(is_filled_in),
        Value::Object(entries) => entries.values().any(is_filled_in),
        _ => false,
    }
}

#[test]
#[ignore = "make parity: needs the packages of all versions"]
fn all_packages_and_llsd_refuse_the_same_files() {
    let of = |(from, config)| Case { from, change: "file", config };
    let cases: Vec<Case> = files().into_iter().map(of).collect();
    let versions = Catalog::versions().iter();
    assert_same(&versions.flat_map(|version| compare(version, &cases)).collect::<Vec<_>>());
}
