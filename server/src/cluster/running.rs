//! The config that a server runs with now.

use super::{Failure, Kubectl, RESOURCES};
use llsd_generator::api::CONFIG_KEYS;
use serde_json::Value;

/// What runs in place of the resource of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Running {
    /// A ConfigMap that holds a config: its name and that text.
    ConfigMap(String, String),
    /// No operator has generated anything yet: the manifest, of which a config can be generated here.
    Resource(String),
    /// The cluster has no such resource.
    Nothing,
}

/// The config that the resource of this namespace and name runs with. An empty namespace is the one that `kubectl`
/// uses.
///
/// # Errors
/// If the cluster cannot be asked, or the ConfigMap that the resource names has no config; in a sentence.
pub fn running_config(kubectl: &Kubectl, namespace: &str, name: &str) -> Result<Running, Failure> {
    let Some(object) = get(kubectl, RESOURCES, namespace, name)? else { return Ok(Running::Nothing) };
    let spec = &object["spec"];
    let user = &spec["server"]["userConfig"];
    let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let home = text(&object["metadata"]["namespace"]).unwrap_or_default();
    let named = [
        (text(&spec["overrideConfig"]["configMapName"]), None),
        (text(&user["configMapName"]), text(&user["configMapNamespace"])),
        (text(&object["status"]["configGeneration"]["configMapName"]), None),
    ];
    let Some((map, place)) = named.into_iter().find_map(|(map, place)| Some((map?, place))) else {
        return Ok(Running::Resource(object.to_string()));
    };
    let place = place.unwrap_or(home);
    let data = get(kubectl, "configmaps", &place, &map)?.map(|object| object["data"].clone()).unwrap_or_default();
    match CONFIG_KEYS.iter().find_map(|key| text(&data[key])) {
        Some(config) => Ok(Running::ConfigMap(map, config)),
        None => Err(Failure::Refused(format!("ConfigMap \"{map}\" in namespace \"{place}\" holds no config"))),
    }
}

fn get(kubectl: &Kubectl, kind: &str, namespace: &str, name: &str) -> Result<Option<Value>, Failure> {
    let mut arguments = vec!["get", kind, name, "--ignore-not-found"];
    if !namespace.is_empty() {
        arguments.extend(["--namespace", namespace]);
    }
    arguments.extend(["--output", "json"]);
    let text = kubectl.run(&arguments)?;
    if text.trim().is_empty() {
        return Ok(None);
    }
    serde_json::from_str(&text).map(Some).map_err(|error| Failure::Unexpected(error.to_string()))
}
