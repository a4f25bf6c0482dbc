//! The CRD: the file in the repository is what the types say, and v1alpha1 is what clusters have installed.
use crd_validator::CompiledSchema;
use llsd_generator::api::{ApiVersion, crd};
use llsd_generator::document::Plain;
use llsd_generator::path::Path;
use serde_json::Value;

fn version(name: &str) -> &'static Value {
    crd::crd()["spec"]["versions"].as_array().unwrap().iter().find(|entry| entry["name"] == name).unwrap()
}

/// A schema without its descriptions, with the lists whose order means nothing sorted.
fn bare(schema: &Value) -> Value {
    match schema {
        Value::Object(fields) => fields
            .iter()
            .filter(|(name, field)| !(name.as_str() == "description" && field.is_string()))
            .map(|(name, field)| (name.clone(), bare(field)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
        Value::Array(items) => {
            let mut items: Vec<Value> = items.iter().map(bare).collect();
            if items.iter().all(Value::is_string) {
                items.sort_by_key(|item| item.as_str().map(str::to_owned));
            }
            items.into()
        }
        other => other.clone(),
    }
}

/// Where two values differ, as paths with both sides.
fn differences(ours: &Value, theirs: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![(String::new(), Some(ours), Some(theirs))];
    while let Some((path, ours, theirs)) = open.pop() {
        if let (Some(Value::Object(ours)), Some(Value::Object(theirs))) = (ours, theirs) {
            for name in ours.keys().chain(theirs.keys().filter(|name| !ours.contains_key(*name))) {
                open.push((format!("{path}.{name}"), ours.get(name), theirs.get(name)));
            }
        } else if ours != theirs {
            found.push(format!("{path}: {ours:?} instead of {theirs:?}"));
        }
    }
    found
}

#[test]
fn v1alpha1_is_the_schema_that_clusters_have() {
    let installed: Value = serde_json::from_str(include_str!("data/crd-v1alpha1.json")).unwrap();
    let ours = version("v1alpha1");
    assert_eq!(
        differences(&bare(crd::schema(ApiVersion::V1Alpha1)), &bare(&installed["schema"])),
        Vec::<String>::new()
    );
    for part in ["additionalPrinterColumns", "selectableFields", "subresources"] {
        assert_eq!(ours[part], installed[part], "{part}");
    }
}

#[test]
fn both_versions_are_served_and_the_newer_is_stored() {
    for (name, storage) in [("v1alpha1", false), ("v1alpha2", true)] {
        assert_eq!(version(name)["served"], true);
        assert_eq!(version(name)["storage"], storage);
    }
}

#[test]
fn a_schema_that_is_read_alone_is_that_of_the_definition() {
    for known in ApiVersion::LLAMA_STACK {
        assert_eq!(crd::schema(known), &version(known.name())["schema"]["openAPIV3Schema"]);
        assert!(crd::schema(known)["properties"]["spec"].is_object(), "{known}");
    }
}

#[test]
fn the_file_in_the_repository_is_up_to_date() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../operator/deploy/crd/llamastackdistributions.yaml");
    let written = std::fs::read_to_string(file).unwrap_or_default();
    let run = "run `cargo run -p llsd-generator --example crd`";
    let derived = crd::derived();
    assert_eq!(differences(crd::crd(), &derived), Vec::<String>::new(), "{run}");
    assert!(include_str!("../src/api/crd.json") == format!("{derived}\n"), "{run}");
    assert!(written == crd::crd_yaml(), "{run}");
    assert_eq!(Plain::read(&llsd_yaml::parse_document(&written)).value, *crd::crd(), "read as kubectl reads it");
}

/// Every schema node of a version with its dotted path.
fn nodes(version: ApiVersion) -> Vec<(String, &'static Value)> {
    let mut found = Vec::new();
    let mut open = vec![(String::new(), crd::schema(version))];
    while let Some((path, schema)) = open.pop() {
        for (name, child) in schema["properties"].as_object().into_iter().flatten() {
            open.push((format!("{path}.{name}").trim_start_matches('.').to_owned(), child));
        }
        if let Some(items) = schema.get("items") {
            open.push((format!("{path}[0]"), items));
        }
        if let Some(values) = schema.get("additionalProperties").filter(|values| values.is_object()) {
            open.push((format!("{path}.x"), values));
        }
        found.push((path, schema));
    }
    found
}

#[test]
fn every_field_is_described() {
    for version in ApiVersion::LLAMA_STACK {
        let silent: Vec<String> = nodes(version)
            .into_iter()
            .map(|(path, _)| path)
            .filter(|path| !path.ends_with("[0]") && !path.ends_with(".x"))
            .filter(|path| crd::description(version, &Path::parse(path)).is_none())
            .collect();
        assert_eq!(silent, Vec::<String>::new(), "{version}");
    }
}

#[test]
fn lists_and_strings_of_v1alpha2_are_bounded() {
    let foreign = [
        "workload.resources",
        "overrides.env[0]",
        "overrides.volumes[0]",
        "overrides.volumeMounts[0]",
        "Constraints[0]",
        "overrides.securityContext",
        "overrides.podSecurityContext",
    ];
    for (path, schema) in nodes(ApiVersion::V1Alpha2) {
        if !path.starts_with("spec") || foreign.iter().any(|part| path.contains(part)) {
            continue;
        }
        if schema["type"] == "array" {
            assert!(schema["minItems"] == 1 && schema.get("maxItems").is_some(), "{path}");
        }
        let free = path.ends_with("command[0]") || path.ends_with("args[0]");
        if schema["type"] == "string" && schema.get("enum").is_none() && !free {
            assert!(schema["minLength"] == 1 && schema.get("maxLength").is_some(), "{path}");
        }
    }
}

#[test]
fn every_rule_can_be_evaluated_here() {
    for version in ApiVersion::LLAMA_STACK {
        assert_eq!(CompiledSchema::new(crd::schema(version)).uncheckable_rules(), [], "{version}");
    }
}
