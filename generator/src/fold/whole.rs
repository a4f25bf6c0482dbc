//! The fields of a resource before and after: whatever v1alpha1 says and the new resource does not.

use super::difference::{Class, Difference, Part};
use super::environment::Env;
use crate::api::{ApiVersion, crd};
use crate::convert;
use crate::path::{Path, Segment};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// Objects whose presence says something: a volume is claimed, the router may connect.
const PRESENT: [&str; 2] = ["spec.server.storage", "spec.network"];

/// Where the new resource, read as v1alpha1, is not the old one, defaults filled in on both sides. The environment is
/// compared by itself; so is the config, where it was folded.
pub(super) fn fields(object: &Value, value: &Value, folded: bool) -> Vec<Difference> {
    let mut old = object.clone();
    let mut new = convert::translate(value, ApiVersion::V1Alpha1);
    convert::fill_defaults(&mut old, ApiVersion::V1Alpha1);
    convert::fill_defaults(&mut new, ApiVersion::V1Alpha1);
    let own_namespace = Path::parse("metadata.namespace").find(object);
    let says = |path: &Path, value: &Value| {
        let shown = path.to_string();
        let empty = value.as_object().is_some_and(Map::is_empty) || value.as_array().is_some_and(Vec::is_empty);
        let default = crd::schema_at(ApiVersion::V1Alpha1, path).and_then(|schema| schema.get("default"));
        let same_namespace = shown == "spec.server.userConfig.configMapNamespace" && Some(value) == own_namespace;
        !value.is_null() && default != Some(value) && !same_namespace && (!empty || PRESENT.contains(&shown.as_str()))
    };
    let mut found = Vec::new();
    for kept in convert::differences(&new, &old) {
        let path: Path = kept.path.into_iter().map(Segment::Key).collect();
        let shown = path.to_string();
        let compared_apart = shown == "spec.server.containerSpec.env"
            || folded && path.starts_with(&Path::parse("spec.server.userConfig"));
        if !shown.starts_with("spec") || compared_apart {
            continue;
        }
        let before = kept.to.filter(|value| says(&path, value));
        let after = kept.from.filter(|value| says(&path, value));
        let class = match (&before, &after) {
            (None, None) => continue,
            (Some(_), None) => Class::Loss,
            (None, Some(_)) => Class::Added,
            (Some(_), Some(_)) => Class::Change,
        };
        found.push(Difference {
            class,
            part: Part::Resource,
            place: shown,
            before: before.as_ref().map(brief),
            after: after.as_ref().map(brief),
            cause: None,
        });
    }
    found
}

/// A value in a few words: what is inside an object or a list may be long, and nobody's business.
fn brief(value: &Value) -> String {
    match value {
        Value::Object(_) => "{…}".to_owned(),
        Value::Array(_) => "[…]".to_owned(),
        scalar => scalar.to_string(),
    }
}

/// Where the container's environment is not as it was, but for variables that were taken out on purpose.
pub(super) fn environment(before: &Env, after: &Env, taken_out: &BTreeSet<&str>) -> Vec<Difference> {
    let differs = |name: &&String| before.get(*name) != after.get(*name) && !taken_out.contains(name.as_str());
    let differing = before.keys().filter(differs);
    differing
        .map(|name| Difference {
            class: if after.contains_key(name) { Class::Change } else { Class::Loss },
            part: Part::Environment,
            place: format!("environment variable {name}"),
            // a value may be secret
            before: Some("its value".to_owned()),
            after: after.contains_key(name).then(|| "another one".to_owned()),
            cause: None,
        })
        .collect()
}
