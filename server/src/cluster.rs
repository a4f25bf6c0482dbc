//! What a cluster says, read through the user's own `kubectl`: whoever can use that in a terminal can use it here, with
//! any way to log in. Nothing is ever written, and the value of a Secret never reaches this process: `kubectl` prints
//! the names of keys only.

mod kubectl;
mod manifests;
mod running;

pub use kubectl::{Failure, Kubectl};
pub use manifests::{Manifests, manifests};
pub use running::{Running, running_config};

use crate::ide::{Cluster, Condition, LiveStatus, ObjectKey};
use llsd_generator::api::CRD_NAME;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A line for each object: its name, and its keys.
const KEYS: &str =
    r#"{{range .items}}{{.metadata.name}}{{range $key, $value := .data}} {{$key}}{{end}}{{"\n"}}{{end}}"#;

/// What was found in some namespaces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClusterState {
    /// The Secrets and ConfigMaps, with the names of their keys and without values.
    pub cluster: Cluster,
    /// The status of each resource that the cluster has.
    pub live: BTreeMap<ObjectKey, LiveStatus>,
    /// What could not be read, a sentence each. The rest is known all the same.
    pub problems: Vec<String>,
}

/// Reads namespaces; an empty name stands for the one that `kubectl` uses when it is told none.
///
/// # Errors
/// If `kubectl` cannot be run, has no such context, or does not reach the cluster.
pub fn query(kubectl: &Kubectl, namespaces: &BTreeSet<String>) -> Result<ClusterState, Failure> {
    let own = kubectl.namespace()?;
    let mut found =
        ClusterState { cluster: Cluster { namespace: own.clone(), ..Cluster::default() }, ..ClusterState::default() };
    let namespaces: BTreeSet<&str> =
        namespaces.iter().map(|name| if name.is_empty() { own.as_str() } else { name }).collect();
    for namespace in namespaces {
        let in_namespace = |name: &str| (namespace.to_owned(), name.to_owned());
        let cluster = &mut found.cluster;
        match keys_of(kubectl, namespace, "secrets") {
            Ok(secrets) => {
                let keys = |keys: BTreeSet<String>| keys.into_iter().map(|key| (key, None)).collect();
                let secrets = secrets.into_iter().map(|(name, all)| (in_namespace(&name), keys(all)));
                cluster.objects.secrets.extend(secrets);
                cluster.complete_secrets.insert(namespace.to_owned());
            }
            Err(Failure::Refused(problem)) => found.problems.push(problem),
            Err(failure) => return Err(failure),
        }
        match keys_of(kubectl, namespace, "configmaps") {
            Ok(maps) => {
                let empty = |keys: BTreeSet<String>| keys.into_iter().map(|key| (key, String::new())).collect();
                let maps = maps.into_iter().map(|(name, keys)| (in_namespace(&name), empty(keys)));
                cluster.objects.config_maps.extend(maps);
                cluster.complete_config_maps.insert(namespace.to_owned());
            }
            Err(Failure::Refused(problem)) => found.problems.push(problem),
            Err(failure) => return Err(failure),
        }
        // By their full name: other kinds may be called like them.
        match kubectl.json(&["get", CRD_NAME, &format!("--namespace={}", plain(namespace)?)]) {
            Ok(list) => {
                let items = list["items"].as_array().into_iter().flatten();
                found.live.extend(items.filter_map(|item| {
                    let name = item["metadata"]["name"].as_str()?;
                    Some((in_namespace(name), live(item)))
                }));
            }
            // A cluster without the CustomResourceDefinition has no resources, which is no problem.
            Err(Failure::Refused(problem)) if problem.contains("doesn't have a resource type") => {}
            Err(Failure::Refused(problem)) => found.problems.push(problem),
            Err(failure) => return Err(failure),
        }
    }
    Ok(found)
}

/// A name that is one. Others are not asked about: a template that is still to be filled in, and whatever could be
/// taken for an option.
fn plain(name: &str) -> Result<&str, Failure> {
    let part = |part: &str| {
        let inner = |letter: u8| letter.is_ascii_lowercase() || letter.is_ascii_digit();
        let edge = |letter: Option<&u8>| letter.copied().is_some_and(inner);
        edge(part.as_bytes().first())
            && edge(part.as_bytes().last())
            && part.bytes().all(|letter| inner(letter) || letter == b'-')
    };
    let valid = name.len() <= 253 && name.split('.').all(part);
    if valid { Ok(name) } else { Err(Failure::Name(name.to_owned())) }
}

fn keys_of(kubectl: &Kubectl, namespace: &str, kind: &str) -> Result<BTreeMap<String, BTreeSet<String>>, Failure> {
    let template = format!("go-template={KEYS}");
    let within = format!("--namespace={}", plain(namespace)?);
    let lines = kubectl.run(&["get", kind, &within, "--output", &template])?;
    let object = |line: &str| {
        let mut words = line.split(' ').map(str::to_owned);
        Some((words.next().filter(|name| !name.is_empty())?, words.collect()))
    };
    Ok(lines.lines().filter_map(object).collect())
}

fn live(item: &Value) -> LiveStatus {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let status = &item["status"];
    let condition = |value: &Value| Condition {
        kind: text(&value["type"]),
        status: text(&value["status"]),
        message: text(&value["message"]),
    };
    LiveStatus {
        phase: text(&status["phase"]),
        conditions: status["conditions"].as_array().into_iter().flatten().map(condition).collect(),
    }
}
