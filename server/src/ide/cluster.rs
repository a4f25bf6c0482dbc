//! What a cluster contributes to the verdict about a file: Secrets and ConfigMaps that are there, and the state of the
//! resources that run. Who asks the cluster is no business of this module.

use super::objects::{ObjectKey, Objects, SecretKeys};
use super::{Analysis, InlayHint, Span, place};
use crate::ide::diagnostics::touches;
use llsd_generator::path::Path;
use std::collections::{BTreeMap, BTreeSet};

/// The objects of a cluster, as of one moment. ConfigMaps are known by their keys; their values are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cluster {
    /// The namespace of resources that name none.
    pub namespace: String,
    /// What is there; all of it has a namespace.
    pub objects: Objects,
    /// Namespaces whose Secrets are all known.
    pub complete_secrets: BTreeSet<String>,
    /// Namespaces whose ConfigMaps are all known.
    pub complete_config_maps: BTreeSet<String>,
}

impl Cluster {
    pub(super) fn secret(&self, key: &ObjectKey) -> Option<&SecretKeys> {
        self.objects.secrets.get(&self.whole(key))
    }

    pub(super) fn config_map(&self, key: &ObjectKey) -> Option<&BTreeMap<String, String>> {
        self.objects.config_maps.get(&self.whole(key))
    }

    /// The namespace that is meant.
    pub(super) fn meant<'a>(&'a self, namespace: &'a str) -> &'a str {
        if namespace.is_empty() { &self.namespace } else { namespace }
    }

    fn whole(&self, (namespace, name): &ObjectKey) -> ObjectKey {
        (self.meant(namespace).to_owned(), name.clone())
    }
}

/// The state of a resource that runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LiveStatus {
    /// `status.phase`; empty while no operator has looked at it.
    pub phase: String,
    /// `status.conditions`, in the order of the status.
    pub conditions: Vec<Condition>,
}

/// One of the conditions of a status.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Condition {
    /// Its type, such as `DeploymentReady`.
    pub kind: String,
    /// `True`, `False` or `Unknown`, as Kubernetes writes it.
    pub status: String,
    /// The sentence for people; it may be empty.
    pub message: String,
}

impl LiveStatus {
    /// The phase, and behind it what the first condition says that does not hold.
    fn label(&self) -> String {
        let phase = if self.phase.is_empty() { "no status yet" } else { &self.phase };
        let failing = self.conditions.iter().find(|one| one.status == "False" && !one.message.is_empty());
        match failing.filter(|_| self.phase != "Ready") {
            Some(one) => format!("{phase}: {}", one.message.lines().next().unwrap_or_default()),
            None => phase.to_owned(),
        }
    }

    fn tooltip(&self) -> String {
        let line = |one: &Condition| format!("{}={}: {}", one.kind, one.status, one.message);
        let lines: Vec<String> = self.conditions.iter().map(line).collect();
        if lines.is_empty() { "In the cluster, without conditions".to_owned() } else { lines.join("\n") }
    }
}

/// The state of the resources inside `range`, each behind its name.
pub(crate) fn hints(
    analysis: &Analysis,
    range: Span,
    namespace: &str,
    live: &BTreeMap<ObjectKey, LiveStatus>,
) -> Vec<InlayHint> {
    let mut found = Vec::new();
    for located in analysis.documents() {
        let here = Span::new(located.offset, located.offset + located.document.tree().text().len());
        if !touches(here, range) {
            continue;
        }
        for resource in located.document.resources() {
            let home = if resource.namespace().is_empty() { namespace } else { resource.namespace() };
            let Some(live) = live.get(&(home.to_owned(), resource.name().to_owned())) else { continue };
            let steps = place::steps(&resource.base, &Path::parse("metadata.name"));
            let Some(name) = located.document.tree().find(&steps) else { continue };
            found.push(InlayHint {
                offset: located.offset + name.span().end,
                label: live.label(),
                behind: true,
                tooltip: live.tooltip(),
                edits: Vec::new(),
            });
        }
    }
    found.retain(|hint| (range.start..=range.end).contains(&hint.offset));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn condition(kind: &str, status: &str, message: &str) -> Condition {
        Condition { kind: kind.to_owned(), status: status.to_owned(), message: message.to_owned() }
    }

    #[test]
    fn says_the_phase_and_what_is_wrong() {
        let mut live = LiveStatus { phase: "Failed".to_owned(), ..LiveStatus::default() };
        live.conditions = vec![condition("A", "True", "fine"), condition("B", "False", "Secret \"x\" not found\nmore")];
        assert_eq!(live.label(), "Failed: Secret \"x\" not found");
        assert_eq!(live.tooltip(), "A=True: fine\nB=False: Secret \"x\" not found\nmore");
        live.phase = "Ready".to_owned();
        assert_eq!(live.label(), "Ready");
        assert_eq!(LiveStatus::default().label(), "no status yet");
    }
}
