//! What the steps do otherwise for an `OGXServer`: where its base config is, and how its status names things.

use super::Refusal;
use super::dereference::Dereferenced;
use crate::queue::Key;
use llsd_generator::api::status::Status;
use llsd_generator::generate::{Base, BaseSource};
use llsd_generator::references::ReferenceKind;
use serde_json::{Value, json};

/// The base config in the ConfigMap that the resource names; `None` if it names none.
///
/// # Errors
/// The ConfigMap or its key is not there, in the words of ogx-k8s-operator.
pub fn named_base(object: &Value, key: &Key, found: &Dereferenced) -> Result<Option<Base>, Refusal> {
    let named = &object["spec"]["baseConfig"];
    let (Some(name), Some(field)) = (named["name"].as_str(), named["key"].as_str()) else { return Ok(None) };
    let namespace = &key.namespace;
    let refusal = |message| Refusal::config("ConfigGenerationFailed", message);
    let content = found
        .get(ReferenceKind::ConfigMap, namespace, name)
        .ok_or_else(|| refusal(format!("failed to find referenced ConfigMap {namespace}/{name}")))?;
    let text = content.data.get(field).and_then(|bytes| String::from_utf8(bytes.clone()).ok()).ok_or_else(|| {
        refusal(format!("failed to find base ConfigMap key '{field}' in ConfigMap {namespace}/{name}"))
    })?;
    Ok(Some(Base { text: text.into(), source: BaseSource::Given }))
}

/// Reads a status, of which a few fields have other names than in that of a `LlamaStackDistribution`.
#[must_use]
pub fn read_status(status: &Value) -> Status {
    let mut status = status.clone();
    if let Some(url) = status.get("externalURL").cloned() {
        status["routeURL"] = url;
    }
    if let Some(version) = status["version"].get("serverVersion").cloned() {
        status["version"]["llamaStackServerVersion"] = version;
    }
    serde_json::from_value(status).unwrap_or_default()
}

/// The status as an `OGXServer` has it. Fields that its CRD does not know are left out: the API server would drop them,
/// and they would seem to be missing ever after.
#[must_use]
pub fn written_status(status: &Status) -> Value {
    let mut value = json!(status);
    let Some(fields) = value.as_object_mut() else { return value };
    if let Some(url) = fields.shift_remove("routeURL") {
        fields.insert("externalURL".to_owned(), url);
    }
    fields.shift_remove("externalProviders");
    let generation = fields.shift_remove("observedGeneration");
    if let (Some(Value::Object(config)), Some(generation)) = (fields.get_mut("configGeneration"), generation) {
        config.insert("observedGeneration".to_owned(), generation);
    }
    if let Some(Value::Object(version)) = fields.get_mut("version")
        && let Some(server) = version.shift_remove("llamaStackServerVersion")
    {
        version.insert("serverVersion".to_owned(), server);
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use llsd_generator::ogx::crd;

    #[test]
    fn a_status_has_no_field_that_the_crd_lacks() {
        let full: Status = serde_json::from_value(json!({
            "phase": "Ready", "availableReplicas": 1, "observedGeneration": 7, "serviceURL": "a", "routeURL": "b",
            "version": {"operatorVersion": "1", "llamaStackServerVersion": "2", "lastUpdated": "2026-01-01T00:00:00Z"},
            "configGeneration": {"configMapName": "a", "generatedAt": "2026-01-01T00:00:00Z", "providerCount": 1,
                "resourceCount": 1, "configVersion": 2},
            "resolvedDistribution": {"image": "a", "configSource": "embedded", "configHash": "b"},
            "distributionConfig": {"activeDistribution": "a", "availableDistributions": {}, "providers": []},
            "externalProviders": [],
        }))
        .unwrap();
        let written = written_status(&full);
        assert_eq!(written["configGeneration"]["observedGeneration"], 7);
        let known = &crd::schema()["properties"]["status"]["properties"];
        for (name, value) in written.as_object().unwrap() {
            assert!(known.get(name).is_some(), "{name}");
            for inner in value.as_object().into_iter().flat_map(|fields| fields.keys()) {
                assert!(known[name]["properties"].get(inner).is_some(), "{name}.{inner}");
            }
        }
        assert_eq!(written_status(&Status { observed_generation: Some(7), ..read_status(&written) }), written);
    }
}
