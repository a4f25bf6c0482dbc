//! What the status and the builders need of Deployments, claims and Ingresses beside their metadata.

use crate::queue::Key;
use crate::resources::Live;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::PersistentVolumeClaim;
use k8s_openapi::api::networking::v1::Ingress;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// A Deployment, as far as it matters.
#[derive(Debug, Default, PartialEq)]
pub struct DeploymentState {
    /// Pods that it should have.
    pub wanted: i32,
    /// Pods that there are, of any revision.
    pub replicas: i32,
    /// Pods of the newest revision.
    pub updated: i32,
    /// Pods that are ready.
    pub ready: i32,
    /// Pods that are available.
    pub available: i32,
    /// Whether the Deployment controller has seen the newest state.
    pub observed: bool,
    /// Whether pods are replaced all at once.
    pub recreates: bool,
    /// The resource that its selector names.
    pub instance: String,
    /// Image of the server.
    pub image: String,
    /// The generated ConfigMap or that of the user that it mounts.
    pub config_maps: Vec<String>,
    /// What earlier decisions of the builders left in it.
    pub live: Live,
    /// Why the newest revision does not get on, if the Deployment controller says so.
    pub stuck: Option<String>,
}

impl DeploymentState {
    /// Reads a Deployment.
    #[must_use]
    pub fn of(deployment: &Deployment) -> Self {
        let spec = deployment.spec.as_ref();
        let status = deployment.status.as_ref();
        let pod = spec.and_then(|spec| spec.template.spec.as_ref());
        let number = |field: fn(&k8s_openapi::api::apps::v1::DeploymentStatus) -> Option<i32>| {
            status.and_then(field).unwrap_or_default()
        };
        let failure = status.and_then(|status| {
            let conditions = status.conditions.as_deref().unwrap_or_default();
            let bad = conditions.iter().find(|one| {
                (one.type_ == "ReplicaFailure" && one.status == "True")
                    || (one.type_ == "Progressing" && one.status == "False")
            });
            bad.and_then(|bad| bad.message.clone())
        });
        Self {
            wanted: spec.and_then(|spec| spec.replicas).unwrap_or(1),
            replicas: number(|status| status.replicas),
            updated: number(|status| status.updated_replicas),
            ready: number(|status| status.ready_replicas),
            available: number(|status| status.available_replicas),
            observed: status.and_then(|status| status.observed_generation) >= deployment.metadata.generation,
            recreates: spec.and_then(|spec| spec.strategy.as_ref()?.type_.as_deref()) == Some("Recreate"),
            instance: spec
                .and_then(|spec| spec.selector.match_labels.as_ref()?.get(crate::resources::INSTANCE).cloned())
                .unwrap_or_default(),
            image: pod.and_then(|pod| pod.containers.first()?.image.clone()).unwrap_or_default(),
            config_maps: pod
                .and_then(|pod| pod.volumes.as_deref())
                .unwrap_or_default()
                .iter()
                .filter_map(|volume| Some(volume.config_map.as_ref()?.name.clone()))
                .collect(),
            live: Live::of(deployment),
            stuck: failure,
        }
    }

    /// Whether pods of an older revision are still there, or those of the newest are not all there yet.
    #[must_use]
    pub fn is_rolling_out(&self) -> bool {
        !self.observed || self.updated < self.wanted || self.replicas > self.updated
    }
}

/// A volume claim, as far as it matters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClaimState {
    /// `Bound` once it has its volume.
    pub phase: String,
    /// The size that was asked for.
    pub size: String,
}

impl ClaimState {
    /// Reads a claim.
    #[must_use]
    pub fn of(claim: &PersistentVolumeClaim) -> Self {
        let requests = claim.spec.as_ref().and_then(|spec| spec.resources.as_ref()?.requests.as_ref());
        Self {
            phase: claim.status.as_ref().and_then(|status| status.phase.clone()).unwrap_or_default(),
            size: requests.and_then(|requests| requests.get("storage")).map(|size| size.0.clone()).unwrap_or_default(),
        }
    }
}

/// The address that an Ingress gives: that of its load balancer, else its host, else nothing yet.
#[must_use]
pub fn ingress_host(ingress: &Ingress) -> String {
    let balancer = ingress.status.as_ref().and_then(|status| status.load_balancer.as_ref()?.ingress.as_ref()?.first());
    let balancer = balancer.and_then(|first| first.hostname.clone().or_else(|| first.ip.clone()));
    let rule = ingress.spec.as_ref().and_then(|spec| spec.rules.as_ref()?.first()?.host.clone());
    balancer.or(rule).unwrap_or_default()
}

/// The states, by namespace and name.
#[derive(Debug)]
pub struct States<T> {
    all: Mutex<HashMap<Key, (u128, Arc<T>)>>,
}

impl<T> Default for States<T> {
    fn default() -> Self {
        Self { all: Mutex::default() }
    }
}

impl<T: PartialEq> States<T> {
    /// The state of this name.
    #[must_use]
    pub fn get(&self, key: &Key) -> Option<Arc<T>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).get(key).map(|(_, state)| Arc::clone(state))
    }

    /// Keeps a state of this resource version unless a later one is known, and says whether it differs from the one
    /// before.
    pub fn put(&self, key: Key, version: u128, state: T) -> bool {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        let known = all.get(&key);
        if known.is_some_and(|(known, _)| *known > version) {
            return false;
        }
        let changed = known.is_none_or(|(_, known)| **known != state);
        if changed {
            all.insert(key, (version, Arc::new(state)));
        } else if let Some((known, _)) = all.get_mut(&key) {
            *known = version;
        }
        changed
    }

    /// Forgets a state.
    pub fn remove(&self, key: &Key) {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).remove(key);
    }
}
