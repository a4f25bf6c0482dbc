//! The operator's own ConfigMap: switches, and other images for known distributions. It is read anew at each change.

use crate::resources::{FeatureFlags, WATCH};
use crate::served::LLAMA_STACK;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

const FLAGS: &str = "featureFlags";
const IMAGES: &str = "image-overrides";
const CA_BUNDLES: &str = "ca-bundle-namespaces";

/// The settings of the ConfigMap that an operator reads at its start, in the form of the Go operator.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OperatorConfig {
    switches: Switches,
    /// Images by name of the distribution.
    pub images: BTreeMap<String, String>,
    /// Namespaces whose ConfigMaps resources of all namespaces may take certificates from.
    pub ca_bundle_namespaces: BTreeSet<String>,
}

/// The content of `featureFlags`. Keys of others are left alone, as the Go operator does.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Switches {
    enable_network_policy: NetworkPolicy,
    restricted_pods: On,
    anyuid: Namespaces,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct NetworkPolicy {
    enabled: bool,
    router_namespaces: Vec<String>,
}

/// A switch that is on unless it is switched off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(default)]
struct On {
    enabled: bool,
}

impl Default for On {
    fn default() -> Self {
        Self { enabled: true }
    }
}

/// Namespaces by name; `*` stands for all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
struct Namespaces {
    namespaces: BTreeSet<String>,
}

impl OperatorConfig {
    /// What the switches come to for the resources of a namespace.
    #[must_use]
    pub fn flags(&self, namespace: &str) -> FeatureFlags {
        let Switches { enable_network_policy, restricted_pods, anyuid } = &self.switches;
        FeatureFlags {
            network_policy: enable_network_policy.enabled,
            router_namespaces: enable_network_policy.router_namespaces.clone(),
            restricted_pods: restricted_pods.enabled,
            anyuid: anyuid.namespaces.iter().any(|name| name == "*" || name == namespace),
        }
    }

    /// Reads the data of the ConfigMap called `name`. A part that cannot be read stays as it was in `before`, and is complained about.
    #[must_use]
    pub fn read(name: &str, data: &BTreeMap<String, String>, before: &Self) -> (Self, Vec<String>) {
        let mut complaints = Vec::new();
        let switches = match data.get(FLAGS).map(|text| serde_yaml::from_str::<Option<Switches>>(text)) {
            None => Switches::default(),
            Some(Ok(switches)) => switches.unwrap_or_default(),
            Some(Err(error)) => {
                complaints.push(format!("{FLAGS} of ConfigMap {name} cannot be read and stays as it was: {error}"));
                before.switches.clone()
            }
        };
        let images = match data.get(IMAGES).map(|text| serde_yaml::from_str::<Option<BTreeMap<String, Value>>>(text)) {
            None => BTreeMap::new(),
            Some(Ok(images)) => images.unwrap_or_default().into_iter().filter_map(|(distribution, image)| {
                let valid = image.as_str().filter(|image| image.parse::<oci_client::Reference>().is_ok());
                if valid.is_none() {
                    complaints.push(format!("{IMAGES} of ConfigMap {name}: the value of {distribution} is no image reference and has no effect"));
                }
                Some((distribution, valid?.to_owned()))
            }).collect(),
            Some(Err(error)) => {
                complaints.push(format!("{IMAGES} of ConfigMap {name} cannot be read and stays as it was: {error}"));
                before.images.clone()
            }
        };
        let listed = data.get(CA_BUNDLES).map(|text| serde_yaml::from_str::<Option<BTreeSet<String>>>(text));
        let ca_bundle_namespaces = match listed {
            None => BTreeSet::new(),
            Some(Ok(namespaces)) => namespaces.unwrap_or_default(),
            Some(Err(error)) => {
                complaints
                    .push(format!("{CA_BUNDLES} of ConfigMap {name} cannot be read and stays as it was: {error}"));
                before.ca_bundle_namespaces.clone()
            }
        };
        (Self { switches, images, ca_bundle_namespaces }, complaints)
    }
}

/// The ConfigMap to create where there is none, as the Go operator does: it shows where settings belong.
#[must_use]
pub fn initial(namespace: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": LLAMA_STACK.settings, "namespace": namespace, "labels": {WATCH.0: WATCH.1}},
        "data": {FLAGS: "enableNetworkPolicy:\n    enabled: false\n"},
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(flags: &str, images: &str) -> BTreeMap<String, String> {
        [(FLAGS.to_owned(), flags.to_owned()), (IMAGES.to_owned(), images.to_owned())].into()
    }

    #[test]
    fn reads_what_the_go_operator_reads() {
        let text = "starter: quay.io/example/starter@sha256:0000000000000000000000000000000000000000000000000000000000000000\n";
        let (config, complaints) = OperatorConfig::read(
            "c",
            &data("enableNetworkPolicy:\n  enabled: true\nother: 1\n", text),
            &OperatorConfig::default(),
        );
        assert!(config.flags("a").network_policy && config.images.contains_key("starter"), "{config:?}");
        assert_eq!(complaints, Vec::<String>::new());
    }

    #[test]
    fn what_cannot_be_read_stays_as_it_was() {
        let before = OperatorConfig {
            switches: Switches {
                enable_network_policy: NetworkPolicy { enabled: true, ..NetworkPolicy::default() },
                ..Switches::default()
            },
            images: [("a".to_owned(), "b".to_owned())].into(),
            ca_bundle_namespaces: ["c".to_owned()].into(),
        };
        let (config, complaints) = OperatorConfig::read("c", &data("- [", "x: ["), &before);
        assert_eq!((&config.switches, &config.images, complaints.len()), (&before.switches, &before.images, 2));
        let data_with = |text: &str| BTreeMap::from([(CA_BUNDLES.to_owned(), text.to_owned())]);
        assert_eq!(
            OperatorConfig::read("c", &data_with("{"), &before).0.ca_bundle_namespaces,
            before.ca_bundle_namespaces
        );
        assert_eq!(
            OperatorConfig::read("c", &data_with("- d"), &before).0.ca_bundle_namespaces,
            ["d".to_owned()].into()
        );
        let (config, complaints) = OperatorConfig::read("c", &data("", "a: 7\nb: quay.io/x/y:1\n"), &before);
        assert!(!config.flags("a").network_policy);
        assert_eq!(config.images.keys().collect::<Vec<_>>(), ["b"]);
        assert_eq!(complaints.len(), 1);
    }

    #[test]
    fn what_is_granted_to_a_namespace_needs_its_name() {
        let read = |flags: &str| OperatorConfig::read("c", &data(flags, ""), &OperatorConfig::default()).0;
        let none = read("");
        assert!(none.flags("team").restricted_pods && !none.flags("team").anyuid);
        let one = read("anyuid: {namespaces: [team]}\nrestrictedPods: {enabled: false}\n");
        assert!(one.flags("team").anyuid && !one.flags("team-b").anyuid && !one.flags("team").restricted_pods);
        assert!(read("anyuid: {namespaces: ['*']}").flags("team-b").anyuid);
    }
}
