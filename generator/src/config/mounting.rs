//! What a resource says about the server that reads a config: its version, its variables, what is mounted.
//!
//! Source: the Go operator and ours. A config is read from a ConfigMap that `userConfig` or `overrideConfig` names, or
//! from one that a volume of the user's own mounts; that of `baseConfig` is merged with what the resource says. Variables
//! are those of the container.

use super::versions;
use crate::api::v1alpha2::{DEFAULT_PORT, api_name};
use crate::api::{ApiVersion, Kind};
use crate::check::rules::plain_secret::{is_secret, names_secret};
use crate::distribution::{Distributions, version_of_image};
use crate::ogx;
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
    /// Whether nothing tells it, and the newest version of ogx stands for it.
    pub is_assumed: bool,
    /// The variables that it sets.
    pub variables: BTreeMap<String, Variable>,
    /// Whether others may be set that are not known: a template decides.
    pub is_open: bool,
    /// How many pods may run at a time.
    pub replicas: i64,
    /// The port that the server is started with; `None`: not known.
    pub port: Option<i64>,
    /// The folders that outlive a container or are mounted into it; `None`: not known.
    pub folders: Option<Vec<String>>,
    /// Whether it starts the server with a command of its own.
    pub has_command: bool,
    /// Whether the operator makes the server's config of this one and of what the resource says, so that no server reads
    /// it as it is.
    pub is_base: bool,
    /// The APIs that it switches off, as configs spell them, where the server reads the ConfigMap's config all the same.
    pub disabled: Vec<String>,
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

/// What a resource uses a ConfigMap for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// The server certainly reads it in place of a generated config.
    Config,
    /// It is mounted, and nothing tells what reads it.
    Files,
    /// The operator makes the server's config of it.
    Base,
}

/// Where the parts of a resource are that matter here.
struct Fields {
    distribution: &'static str,
    config_map: &'static str,
    /// What names a ConfigMap with a base config; empty where nothing does.
    base: &'static str,
    env: &'static str,
    commands: [&'static str; 2],
    pod: &'static str,
    storage: &'static str,
    replicas: &'static str,
    most_replicas: &'static str,
    port: &'static str,
    /// The list of APIs that are switched off; empty where there is none.
    disabled: &'static str,
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
                base: "",
                env: "spec.server.containerSpec.env",
                commands: ["spec.server.containerSpec.command", "spec.server.containerSpec.args"],
                pod: "spec.server.podOverrides",
                storage: "spec.server.storage",
                replicas: "spec.replicas",
                most_replicas: "spec.server.autoscaling.maxReplicas",
                port: "spec.server.containerSpec.port",
                disabled: "",
                reference: "configMapName",
                default_folder: STORAGE,
            },
            ApiVersion::V1Alpha2 => Self {
                distribution: "spec.distribution",
                config_map: "spec.overrideConfig",
                base: "",
                env: "spec.workload.overrides.env",
                commands: ["spec.workload.overrides.command", "spec.workload.overrides.args"],
                pod: "spec.workload.overrides",
                storage: "spec.workload.storage",
                replicas: "spec.workload.replicas",
                most_replicas: "spec.workload.autoscaling.maxReplicas",
                port: "spec.networking.port",
                disabled: "spec.disabled",
                reference: "configMapName",
                default_folder: STORAGE,
            },
            ApiVersion::OgxV1Beta1 => Self {
                base: "spec.baseConfig",
                port: "spec.network.port",
                disabled: "spec.disabledAPIs",
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
    let mut named: BTreeMap<ObjectKey, Use> = BTreeMap::new();
    let base = text(at(fields.base), fields.reference);
    if !fields.base.is_empty() && !base.is_empty() && !is_open(fields.base) {
        named.insert((namespace.clone(), base), Use::Base);
    }
    let reference = at(fields.config_map);
    let name = text(reference, fields.reference);
    if !name.is_empty() && !unknown.contains(&Path::parse(fields.config_map).key(fields.reference)) {
        let elsewhere = text(reference, "configMapNamespace");
        named.insert((if elsewhere.is_empty() { namespace.clone() } else { elsewhere }, name), Use::Config);
    }
    let has_command = fields.commands.iter().any(|place| at(place).is_some() || is_open(place));
    let pod = at(fields.pod);
    let list = |field: &str| pod.and_then(|pod| pod.get(field)).and_then(Value::as_array).into_iter().flatten();
    for volume in list("volumes") {
        let name = text(volume.get("configMap"), "name");
        if !name.is_empty() {
            named.entry((namespace.clone(), name)).or_insert(if has_command { Use::Config } else { Use::Files });
        }
    }
    if named.is_empty() {
        return Vec::new();
    }
    let Told { version, by: told_by, is_assumed } = told(version, object, unknown);
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
        is_assumed,
        variables: variables(at(fields.env)),
        is_open: is_open(fields.env),
        replicas: number(fields.replicas).unwrap_or(1).max(number(fields.most_replicas).unwrap_or(1)),
        port: (!is_open(fields.port)).then(|| number(fields.port).unwrap_or(i64::from(DEFAULT_PORT))),
        folders: (!is_open(fields.pod) && !is_open(fields.storage)).then_some(folders),
        has_command,
        is_base: false,
        disabled: Vec::new(),
    };
    let disabled = disabled(at(fields.disabled).filter(|_| !fields.disabled.is_empty() && !is_open(fields.disabled)));
    let of = |(config_map, used): (ObjectKey, Use)| {
        let disabled = if used == Use::Config { disabled.clone() } else { Vec::new() };
        Mount { config_map, disabled, is_base: used == Use::Base, ..mount.clone() }
    };
    named.into_iter().map(of).collect()
}

/// The version of the server that a resource runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// As name or tag tell it, such as `0.4.7`; `None` where neither does.
    pub version: Option<String>,
    /// What tells it, in words; empty where nothing does.
    pub by: String,
    /// Whether nothing tells it, and the newest version of ogx that is known stands for it.
    pub is_assumed: bool,
}

/// The version that the distribution of a resource tells. Names and images of an `OGXServer` are those of ogx, whatever
/// llama-stack calls so. `unknown`: places that a template fills in.
#[must_use]
pub fn told(version: ApiVersion, object: &Value, unknown: &BTreeSet<Path>) -> Told {
    let place = Path::parse(Fields::of(version).distribution);
    if unknown.iter().any(|one| one.starts_with(&place) || place.starts_with(one)) {
        return Told::default();
    }
    let text = |field: &str| place.key(field).find(object).and_then(Value::as_str);
    let (name, image) = (text("name"), text("image"));
    let by = match (name, image) {
        (Some(name), _) => format!("distribution {name}"),
        (None, Some(image)) => format!("image {image}"),
        (None, None) => return Told::default(),
    };
    let of_image = || image.filter(|_| name.is_none()).and_then(version_of_image);
    if version.kind() == Kind::OgxServer {
        return match of_image().filter(|version| versions::nearest(version).is_some()) {
            Some(version) => Told { version: Some(version), by, is_assumed: false },
            None => Told {
                version: Some(ogx::versions::newest().to_owned()),
                by: format!("{by} tells no version that is known, so the newest is assumed"),
                is_assumed: true,
            },
        };
    }
    let of_name = || Some(Distributions::embedded().get(name?).ok()?.llama_stack_version.clone());
    Told { version: of_name().or_else(of_image), by, is_assumed: false }
}

/// The APIs of a list, as configs spell them.
fn disabled(list: Option<&Value>) -> Vec<String> {
    let apis = list.and_then(Value::as_array).into_iter().flatten();
    apis.filter_map(Value::as_str).map(api_name).collect()
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
