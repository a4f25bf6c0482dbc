//! The resources that a cluster has, as manifests, with the ConfigMaps that hold their configs.

use super::{Failure, Kubectl, plain};
use llsd_generator::api::CRD_NAME;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// What `kubectl` prints of some namespaces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manifests {
    /// YAML, a document for each namespace with a resource or a ConfigMap of one.
    pub text: String,
    /// What prints it, a shell command for each of the documents.
    pub commands: Vec<String>,
}

/// Reads the resources of these namespaces, or of all where none is named, and the ConfigMaps with their configs, which
/// may be in others.
///
/// # Errors
/// If the cluster cannot be asked, or does not know the kind.
pub fn manifests(kubectl: &Kubectl, namespaces: &[String]) -> Result<Manifests, Failure> {
    let scopes = match namespaces {
        [] => vec!["--all-namespaces".to_owned()],
        some => some.iter().map(|name| Ok(format!("--namespace={}", plain(name)?))).collect::<Result<_, _>>()?,
    };
    let mut wanted: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for scope in scopes {
        let list = kubectl.json(&["get", CRD_NAME, &scope])?;
        for (namespace, object) in list["items"].as_array().into_iter().flatten().flat_map(objects) {
            wanted.entry(namespace).or_default().insert(object);
        }
    }
    let mut found = Manifests::default();
    for (namespace, objects) in wanted {
        let mut arguments = vec!["get".to_owned(), format!("--namespace={namespace}")];
        arguments.extend(["--ignore-not-found", "--output=yaml"].map(str::to_owned));
        arguments.extend(objects);
        let text = kubectl.run(&arguments)?;
        if !text.trim().is_empty() {
            found.text += &format!("{}{text}", if found.text.is_empty() { "" } else { "---\n" });
            found.commands.push(format!("kubectl {}", arguments.join(" ")));
        }
    }
    Ok(found)
}

/// A resource and its ConfigMaps, each with its namespace, as `kubectl` takes them. Nothing that a resource says can be an
/// option or a second word: what cannot be the name of an object is not there to be read.
fn objects(item: &Value) -> Vec<(String, String)> {
    let name = |value: &Value| plain(value.as_str()?).ok().map(str::to_owned);
    let home = &item["metadata"]["namespace"];
    let user = &item["spec"]["server"]["userConfig"];
    let elsewhere = match user["configMapNamespace"].as_str() {
        None | Some("") => home,
        Some(_) => &user["configMapNamespace"],
    };
    let named = [
        (home, CRD_NAME, &item["metadata"]["name"]),
        (elsewhere, "configmaps", &user["configMapName"]),
        (home, "configmaps", &item["spec"]["overrideConfig"]["configMapName"]),
    ];
    named
        .into_iter()
        .filter_map(|(namespace, kind, object)| Some((name(namespace)?, format!("{kind}/{}", name(object)?))))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::objects;
    use serde_json::json;

    #[test]
    fn what_cannot_be_a_name_is_not_asked_for() {
        let item = |user: &str, namespace: &str| {
            json!({"metadata": {"name": "chat", "namespace": "ai"}, "spec": {"server": {"userConfig": {
                "configMapName": user, "configMapNamespace": namespace}}, "overrideConfig": {"configMapName": "own"}}})
        };
        let pair = |namespace: &str, object: &str| (namespace.to_owned(), object.to_owned());
        let resource = pair("ai", "llamastackdistributions.llamastack.io/chat");
        let own = pair("ai", "configmaps/own");
        let shared = pair("shared", "configmaps/config");
        assert_eq!(objects(&item("config", "shared")), [resource.clone(), shared, own.clone()]);
        let near = pair("ai", "configmaps/config");
        assert_eq!(objects(&item("config", "")), [resource.clone(), near, own.clone()]);
        for (user, namespace) in [("--server=https://evil", "shared"), ("config; rm", "shared"), ("config", "-A")] {
            assert_eq!(objects(&item(user, namespace)), [resource.clone(), own.clone()]);
        }
    }
}
