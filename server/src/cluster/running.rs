//! The config that a server runs with now.

use super::{Failure, Kubectl, plain};
use llsd_generator::api::{CONFIG_KEYS, CRD_NAME};
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
    let Some(object) = get(kubectl, CRD_NAME, namespace, name)? else { return Ok(Running::Nothing) };
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

/// Nothing that a file or the cluster says can be an option: names stand behind `--`, and are names.
fn get(kubectl: &Kubectl, kind: &str, namespace: &str, name: &str) -> Result<Option<Value>, Failure> {
    let mut arguments = vec!["get".to_owned(), kind.to_owned(), "--ignore-not-found".to_owned()];
    if !namespace.is_empty() {
        arguments.push(format!("--namespace={}", plain(namespace)?));
    }
    arguments.extend(["--output=json", "--", plain(name)?].map(str::to_owned));
    let text = kubectl.run(&arguments)?;
    if text.trim().is_empty() {
        return Ok(None);
    }
    serde_json::from_str(&text).map(Some).map_err(|error| Failure::Unexpected(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever runs this program is told apart from whoever does not.
    fn never() -> Kubectl {
        Kubectl { program: Some("/no/such/kubectl".into()), ..Kubectl::default() }
    }

    #[test]
    fn what_is_no_name_never_reaches_a_command_line() {
        let bad = [
            "--kubeconfig=/tmp/x{{ .Values.y }}",
            "-n",
            "--server=https://evil/?${X}",
            "${NAME}",
            "a b",
            "A",
            "a/b",
            "-",
        ];
        for name in bad {
            assert_eq!(running_config(&never(), "", name), Err(Failure::Name(name.to_owned())));
            assert_eq!(running_config(&never(), name, "a"), Err(Failure::Name(name.to_owned())));
        }
        assert!(matches!(running_config(&never(), "", "a.b-c"), Err(Failure::Program { .. })));
        assert!(matches!(running_config(&never(), "default", "a"), Err(Failure::Program { .. })));
    }
}
