//! The API server takes every recorded child as it is.

use crate::operator_manifests::{dry_apply, repository};
use llsd_operator::resources::Kind;
use serde::Deserialize as _;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;

/// The recorded manifests: their names, and the objects in them.
pub(crate) fn recorded() -> Vec<(String, Vec<Value>)> {
    let folder = repository("operator/tests/golden");
    let mut found: Vec<_> = fs::read_dir(folder)
        .expect("the recorded manifests")
        .map(|entry| {
            let path = entry.expect("a file").path();
            let text = fs::read_to_string(&path).expect("a file");
            let objects = serde_yaml::Deserializer::from_str(&text)
                .map(|document| Value::deserialize(document).expect("YAML"))
                .filter(|object| object.get("kind").is_some())
                .collect();
            (path.file_stem().expect("a name").to_string_lossy().into_owned(), objects)
        })
        .collect();
    found.sort_by(|one, other| one.0.cmp(&other.0));
    found
}

#[test]
fn every_recorded_child_is_accepted() {
    let mut seen = BTreeSet::new();
    let mut refused = Vec::new();
    for (name, objects) in recorded() {
        for object in objects {
            let kind = kind_of(&object);
            seen.insert(kind);
            // The recorded bundle stands for certificates, and the API server does not look into it.
            if let Err(error) = dry_apply(&kind.api_resource(), &object) {
                refused.push(format!("{name}: {kind:?}: {error}"));
            }
        }
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
    // ConfigMaps are one kind in the API.
    let all = Kind::ALL.into_iter().filter(|kind| *kind != Kind::GeneratedConfig).collect();
    assert_eq!(seen, all, "a kind of child that no recorded manifest has");
}

/// The first kind of child that is of this kind in the API.
pub(crate) fn kind_of(object: &Value) -> Kind {
    let found = Kind::ALL.into_iter().find(|kind| object["kind"] == kind.gvk().2);
    found.unwrap_or_else(|| panic!("{} is no kind of child", object["kind"]))
}
