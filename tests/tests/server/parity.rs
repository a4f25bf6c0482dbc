//! `llsd` accepts the configs that the server accepts, and refuses those that it refuses.
//!
//! Configs of the repository are changed at one place each, in every way that is listed here. The installed package says
//! whether it would start. Where it would not, we have to say something; where it would, we may warn and not speak of an error. What
//! differs is in [`EXPLAINED`], with the reason.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use llsd_generator::check::finding::Severity;
use llsd_generator::config::{Request, check};
use llsd_generator::distribution::{BaseConfig, Distributions};
use llsd_tests::llama_stack::{Folder, Verdict, validate_leniently};
use serde_json::{Map, Value, json};

use crate::server::samples::{generated, samples};

/// The version of the package that the tests install.
const VERSION: &str = "0.4.7";

/// Mutations of each config at most, spread over all its places.
const EACH: usize = 120;

/// Differences that stay, by a part of a message of either side, with the reason.
const EXPLAINED: &[(&str, &str)] = &[
    (
        "needs \"base_url\" for remote::vllm",
        "the package's schema has a default of none, and the provider exits when it is made",
    ),
    ("needs \"base_url\" for remote::tgi", "as for vLLM"),
    ("needs \"persistence\" for remote::pgvector", "as for vLLM: the schema allows none, and the provider crashes"),
];

/// The configs that are changed: what the distributions start from, and what the samples come to.
fn configs() -> Vec<Value> {
    let embedded = Distributions::embedded().iter().filter_map(|found| BaseConfig::embedded(&found.name));
    let mut texts: BTreeSet<String> = embedded.map(str::to_owned).collect();
    for (_, text) in samples() {
        texts.extend(generated(&text).into_iter().map(|made| made.config.text().to_owned()));
    }
    let read = |text: &String| serde_yaml::from_str(text).expect("a config of the repository is YAML");
    texts
        .iter()
        .map(read)
        .map(|mut config| {
            switch_on(&mut config);
            config
        })
        .collect()
}

/// Providers and resources that a variable switches on are switched on, and models have a name: the package looks at no
/// others.
fn switch_on(value: &mut Value) {
    match value {
        Value::Object(entries) => {
            for (key, value) in entries {
                switch_on(value);
                if key.ends_with("_id") && value.as_str().is_some_and(|text| text.ends_with(":=}")) {
                    *value = json!("named");
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(switch_on),
        Value::String(text) => {
            let on = text.strip_prefix("${env.").and_then(|rest| rest.strip_suffix('}')?.split_once(":+"));
            if let Some((_, id)) = on {
                *text = id.to_owned();
            }
        }
        _ => {}
    }
}

/// Every config with one change, and what was changed.
fn mutations() -> Vec<(String, Value)> {
    let mut all = Vec::new();
    for config in configs() {
        let mut here = Vec::new();
        for pointer in pointers(&config) {
            for (name, change) in CHANGES {
                let mut changed = config.clone();
                if change(&mut changed, &pointer) && changed != config {
                    here.push((format!("{name} {pointer}"), changed));
                }
            }
        }
        let step = here.len().div_ceil(EACH).max(1);
        all.extend(here.into_iter().step_by(step));
    }
    all
}

/// A change of the value at a pointer; `false` where it does not apply.
type Change = fn(&mut Value, &str) -> bool;

const CHANGES: [(&str, Change); 8] = [
    ("rename", |config, pointer| {
        let Some((parent, name)) = holder(config, pointer) else { return false };
        parent.remove(&name).is_some_and(|value| parent.insert(format!("{name}x"), value).is_none())
    }),
    ("remove", |config, pointer| holder(config, pointer).is_some_and(|(parent, name)| parent.remove(&name).is_some())),
    ("null", |config, pointer| set(config, pointer, Value::Null)),
    ("number", |config, pointer| set(config, pointer, json!(12))),
    ("text", |config, pointer| set(config, pointer, json!("some text"))),
    ("list", |config, pointer| set(config, pointer, json!(["some", "texts"]))),
    ("mapping", |config, pointer| set(config, pointer, json!({"some": "mapping"}))),
    ("variable", |config, pointer| set(config, pointer, json!("${env.SOME_VARIABLE:=12}"))),
];

fn set(config: &mut Value, pointer: &str, value: Value) -> bool {
    config.pointer_mut(pointer).is_some_and(|place| {
        *place = value;
        true
    })
}

fn holder<'v>(config: &'v mut Value, pointer: &str) -> Option<(&'v mut Map<String, Value>, String)> {
    let (parent, name) = pointer.rsplit_once('/')?;
    let name = name.replace("~1", "/").replace("~0", "~");
    Some((config.pointer_mut(parent)?.as_object_mut()?, name))
}

/// Every place below the root, as JSON pointers.
fn pointers(value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![(String::new(), value)];
    while let Some((at, value)) = open.pop() {
        let children: Vec<(String, &Value)> = match value {
            Value::Object(entries) => {
                entries.iter().map(|(name, value)| (name.replace('~', "~0").replace('/', "~1"), value)).collect()
            }
            Value::Array(items) => items.iter().enumerate().map(|(at, item)| (at.to_string(), item)).collect(),
            _ => Vec::new(),
        };
        for (name, child) in children {
            let below = format!("{at}/{name}");
            found.push(below.clone());
            open.push((below, child));
        }
    }
    found.sort();
    found
}

/// What we say of a config: errors, and errors with warnings.
fn said_by_us(config: &Value) -> (Vec<String>, Vec<String>) {
    let unknown = BTreeSet::new();
    let verdict = check(&Request { config, unknown: &unknown, version: Some(VERSION) });
    let of = |least: Severity| {
        let said = verdict.findings.iter().filter(|finding| finding.severity <= least);
        said.map(|finding| format!("{}: {}", finding.path, finding.message)).collect()
    };
    (of(Severity::Error), of(Severity::Warning))
}

#[test]
fn the_package_and_llsd_refuse_the_same_configs() {
    let mutations = mutations();
    let folder = Folder::new("parity").unwrap();
    let files: Vec<PathBuf> = (0..mutations.len()).map(|at| folder.path().join(format!("{at}.yaml"))).collect();
    for (file, (_, config)) in files.iter().zip(&mutations) {
        std::fs::write(file, serde_yaml::to_string(config).unwrap()).unwrap();
    }
    let verdicts: Vec<Verdict> = validate_leniently(&files).unwrap();
    let mut table: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut different = Vec::new();
    for ((name, config), verdict) in mutations.iter().zip(&verdicts) {
        let (errors, said) = said_by_us(config);
        let theirs: Vec<String> = verdict.errors.iter().map(|one| format!("{}: {}", one.path, one.message)).collect();
        let explained = theirs.iter().chain(&errors).any(|text| EXPLAINED.iter().any(|(part, _)| text.contains(part)));
        let outcome = match (verdict.ok, errors.is_empty(), said.is_empty()) {
            (true, true, _) => "both accept",
            (false, _, false) => "both refuse",
            (false, ..) if explained => "explained",
            (false, ..) => "laxer",
            (true, ..) if explained => "explained",
            (true, false, _) => "stricter",
        };
        *table.entry((outcome, name.split(' ').next().unwrap_or_default())).or_default() += 1;
        if matches!(outcome, "laxer" | "stricter") {
            different.push(format!("{outcome}: {name}\n  package: {theirs:?}\n  llsd:    {said:?}"));
        }
    }
    println!("{} configs: {table:#?}", mutations.len());
    assert!(mutations.len() >= 1000, "{}", mutations.len());
    assert!(different.is_empty(), "{} of {} differ:\n{}", different.len(), mutations.len(), different.join("\n"));
}
