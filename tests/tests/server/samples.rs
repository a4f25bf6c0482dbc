//! The samples and goldens as configs for llama-stack.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use llsd_generator::api::ApiVersion;
use llsd_generator::check::{Facts, Request, verdict};
use llsd_generator::generate::{Base, ConfigSource, Generated, generate, target};
use serde::Deserialize;
use serde_json::Value;

/// The folder of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The text of a sample.
pub(crate) fn sample(name: &str) -> String {
    std::fs::read_to_string(root().join("samples").join(name)).unwrap()
}

/// Name and text of every sample.
pub(crate) fn samples() -> Vec<(String, String)> {
    let mut found: Vec<_> = std::fs::read_dir(root().join("samples"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".yaml"))
        .map(|name| (name.clone(), sample(&name)))
        .collect();
    found.sort();
    found
}

/// The documents of a YAML file.
pub(crate) fn documents(text: &str) -> Vec<Value> {
    serde_yaml::Deserializer::from_str(text).map(|document| Value::deserialize(document).unwrap()).collect()
}

/// What the v1alpha2 resources of a file generate. Those that generate nothing are left out.
pub(crate) fn generated(text: &str) -> Vec<Generated> {
    let resources = documents(text).into_iter().filter(|value| value["apiVersion"] == "llamastack.io/v1alpha2");
    resources.filter_map(|value| try_generate(&value).unwrap_or_else(|error| panic!("{error}"))).collect()
}

/// What a v1alpha2 resource generates, if anything; an error says why it cannot.
pub(crate) fn try_generate(value: &Value) -> Result<Option<Generated>, String> {
    let (unknown, facts) = (BTreeSet::new(), Facts::default());
    let request = Request { version: ApiVersion::V1Alpha2, value, old: None, unknown: &unknown, facts: &facts };
    let outcome = verdict(&request);
    let model = outcome.model.ok_or_else(|| format!("{:#?}", outcome.findings))?;
    if ConfigSource::of(model.spec()) != ConfigSource::Generated {
        return Ok(None);
    }
    let base = Base::embedded(&model.spec().distribution, None).map_err(|error| error.to_string())?;
    generate(&model, &base, target(model.spec()).0).map(Some).map_err(|error| error.to_string())
}

/// The config.yaml texts in the ConfigMaps of a file.
pub(crate) fn written(text: &str) -> Vec<String> {
    let maps = documents(text).into_iter().filter(|value| value["kind"] == "ConfigMap");
    maps.filter_map(|map| map["data"]["config.yaml"].as_str().map(str::to_owned)).collect()
}
