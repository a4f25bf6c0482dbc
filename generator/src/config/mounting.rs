//! What a resource says about the server that reads a config: its version, its variables, what is mounted.
//!
//! Source: the Go operator and ours. A config is read from a ConfigMap that `userConfig` or `overrideConfig` names, or
//! from one that a volume of the user's own mounts; variables are those of the container.

use super::versions;
use crate::api::ApiVersion;
use crate::api::v1alpha2::DEFAULT_PORT;
use crate::check::rules::plain_secret::{is_secret, names_secret};
use crate::distribution::{Distributions, version_of_image};
use crate::path::Path;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Namespace and name of a ConfigMap; the namespace is empty where the resource names none.
type ObjectKey = (String, String);

/// Where the operators of `LlamaStackDistribution` mount storage that names no path.
const STORAGE: &str = "/.llama";

/// Where the operators mount the ConfigMap with the config.
const CONFIG: [&str; 2] = ["/etc/llama-stack", "/etc/ogx"];

/// A resource, as far as it concerns the config that it mounts.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mount {
    /// The name of the resource.
    pub resource: String,
    /// The ConfigMap with the config: namespace and name.
    pub config_map: ObjectKey,
    /// The version of the server as name or tag tell it, such as `0.4.7`.
    pub version: Option<String>,
    /// What tells the version, in words.
    pub told_by: String,
    /// The variables that it sets.
    pub variables: BTreeMap<String, Variable>,
    /// Whether others may be set that are not known: a template decides.
    pub is_open: bool,
    /// How many pods may run at a time.
    pub replicas: i64,
    /// The port that the server is started with.
    pub port: i64,
    /// The folders that outlive a container or are mounted into it; `None`: not known.
    pub folders: Option<Vec<String>>,
    /// Whether it starts the server with a command of its own.
    pub has_command: bool,
}

/// Where a variable takes its value from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Variable {
    /// The value is written in the resource itself.
    Value(String),
    /// A key of a Secret: name and key.
    Secret(String, String),
    /// A key of a ConfigMap: name and key.
    ConfigMap(String, String),
    /// Something else, such as a field of the pod, or a template.
    Other,
}

/// Where the parts of a resource are that matter here.
struct Fields {
    distribution: &'static str,
    config_map: &'static str,
    env: &'static str,
    commands: [&'static str; 2],
    pod: &'static str,
    storage: &'static str,
    replicas: &'static str,
    most_replicas: &'static str,
    port: &'static str,
    /// The field that names the ConfigMap.
    reference: &'static str,
    /// Where storage is mounted that names no path.
    default_folder: &'static str,
}

impl Fields {
    const fn of(version: ApiVersion) -> Self {
        match version {
            ApiVersion::V1Alpha1 => Self {
                distribution: "spec.server.distribution",
                config_map: "spec.server.userConfig",
                env: "spec.server.containerSpec.env",
                commands: ["spec.server.containerSpec.command", "spec.server.containerSpec.args"],
                pod: "spec.server.podOverrides",
                storage: "spec.server.storage",
                replicas: "spec.replicas",
                most_replicas: "spec.server.autoscaling.maxReplicas",
                port: "spec.server.containerSpec.port",
                reference: "configMapName",
                default_folder: STORAGE,
            },
            ApiVersion::V1Alpha2 => Self {
                distribution: "spec.distribution",
                config_map: "spec.overrideConfig",
                env: "spec.workload.overrides.env",
                commands: ["spec.workload.overrides.command", "spec.workload.overrides.args"],
                pod: "spec.workload.overrides",
                storage: "spec.workload.storage",
                replicas: "spec.workload.replicas",
                most_replicas: "spec.workload.autoscaling.maxReplicas",
                port: "spec.networking.port",
                reference: "configMapName",
                default_folder: STORAGE,
            },
            ApiVersion::OgxV1Beta1 => Self {
                port: "spec.network.port",
                reference: "name",
                default_folder: "/.ogx",
                ..Self::of(ApiVersion::V1Alpha2)
            },
        }
    }
}

/// What a resource says to each ConfigMap that it mounts; empty where it mounts none. `unknown`: places that a template
/// fills in.
#[must_use]
pub fn mounts(version: ApiVersion, object: &Value, unknown: &BTreeSet<Path>) -> Vec<Mount> {
    let fields = Fields::of(version);
    let at = |place: &str| Path::parse(place).find(object);
    let text = |holder: Option<&Value>, field: &str| {
        holder.and_then(|holder| holder.get(field)).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let is_open = |place: &str| {
        let place = Path::parse(place);
        unknown.iter().any(|one| one.starts_with(&place) || place.starts_with(one))
    };
    let namespace = text(object.get("metadata"), "namespace");
    let mut named: BTreeSet<ObjectKey> = BTreeSet::new();
    let reference = at(fields.config_map);
    let name = text(reference, fields.reference);
    if !name.is_empty() && !unknown.contains(&Path::parse(fields.config_map).key(fields.reference)) {
        let elsewhere = text(reference, "configMapNamespace");
        named.insert((if elsewhere.is_empty() { namespace.clone() } else { elsewhere }, name));
    }
    let pod = at(fields.pod);
    let list = |field: &str| pod.and_then(|pod| pod.get(field)).and_then(Value::as_array).into_iter().flatten();
    for volume in list("volumes") {
        let name = text(volume.get("configMap"), "name");
        if !name.is_empty() {
            named.insert((namespace.clone(), name));
        }
    }
    if named.is_empty() {
        return Vec::new();
    }
    let (version, told_by) = version_of(at(fields.distribution), is_open(fields.distribution));
    let mut folders = CONFIG.map(str::to_owned).to_vec();
    if let Some(storage) = at(fields.storage) {
        let path = text(Some(storage), "mountPath");
        folders.push(if path.is_empty() { fields.default_folder.to_owned() } else { path });
    }
    folders.extend(list("volumeMounts").map(|mount| text(Some(mount), "mountPath")).filter(|path| !path.is_empty()));
    let number = |place: &str| at(place).and_then(Value::as_i64);
    let mount = Mount {
        resource: text(object.get("metadata"), "name"),
        config_map: ObjectKey::default(),
        version,
        told_by,
        variables: variables(at(fields.env)),
        is_open: is_open(fields.env),
        replicas: number(fields.replicas).unwrap_or(1).max(number(fields.most_replicas).unwrap_or(1)),
        port: number(fields.port).unwrap_or(i64::from(DEFAULT_PORT)),
        folders: (!is_open(fields.pod) && !is_open(fields.storage)).then_some(folders),
        has_command: fields.commands.iter().any(|place| at(place).is_some() || is_open(place)),
    };
    named.into_iter().map(|config_map| Mount { config_map, ..mount.clone() }).collect()
}

/// The version that a distribution tells, and what tells it.
fn version_of(distribution: Option<&Value>, is_open: bool) -> (Option<String>, String) {
    let text = |field: &str| distribution.and_then(|one| one.get(field)).and_then(Value::as_str);
    match (text("name"), text("image")) {
        _ if is_open => (None, String::new()),
        (Some(name), _) => {
            let known = Distributions::embedded().get(name).ok();
            (known.map(|known| known.llama_stack_version.clone()), format!("distribution {name}"))
        }
        (None, Some(image)) => (version_of_image(image), format!("image {image}")),
        (None, None) => (None, String::new()),
    }
}

fn variables(env: Option<&Value>) -> BTreeMap<String, Variable> {
    let entries = env.and_then(Value::as_array).into_iter().flatten();
    let named = entries.filter_map(|entry| Some((entry.get("name")?.as_str()?.to_owned(), variable(entry))));
    named.collect()
}

fn variable(entry: &Value) -> Variable {
    let reference = |field: &str| {
        let found = entry.get("valueFrom")?.get(field)?;
        let text = |field: &str| found.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
        Some((text("name"), text("key")))
    };
    match entry.get("value") {
        Some(Value::String(text)) => Variable::Value(text.clone()),
        Some(_) => Variable::Other,
        None if entry.get("valueFrom").is_none() => Variable::Value(String::new()),
        None => match (reference("secretKeyRef"), reference("configMapKeyRef")) {
            (Some((name, key)), _) => Variable::Secret(name, key),
            (None, Some((name, key))) => Variable::ConfigMap(name, key),
            (None, None) => Variable::Other,
        },
    }
}

impl Mount {
    /// The version with a catalog that is the one it runs, or the nearest to it: of the same minor version.
    #[must_use]
    pub fn known_version(&self) -> Option<&'static str> {
        versions::nearest(self.version.as_deref()?)
    }

    /// Whether it mounts this ConfigMap. A manifest that names no namespace may be put into any.
    #[must_use]
    pub fn names(&self, (namespace, name): &ObjectKey) -> bool {
        let own = &self.config_map;
        own.1 == *name && (own.0.is_empty() || namespace.is_empty() || own.0 == *namespace)
    }

    /// What it sets a variable to, in words; `None`: it does not.
    #[must_use]
    pub fn says(&self, variable: &str) -> Option<String> {
        let resource = &self.resource;
        Some(match self.variables.get(variable)? {
            Variable::Value(text) if names_secret(variable) && is_secret(text) => {
                format!("written in resource \"{resource}\"")
            }
            Variable::Value(text) => format!("`{text}` in resource \"{resource}\""),
            Variable::Secret(name, key) => format!("from Secret {name}, key {key}, in resource \"{resource}\""),
            Variable::ConfigMap(name, key) => format!("from ConfigMap {name}, key {key}, in resource \"{resource}\""),
            Variable::Other => format!("in resource \"{resource}\""),
        })
    }
}
