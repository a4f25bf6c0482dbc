//! What the status and the builders need of Deployments, claims and Ingresses beside their metadata.

use super::tombstones::Tombstones;
use crate::queue::Key;
use crate::resources::LiveDeployment;
use k8s_openapi::api::apps::v1::{Deployment, DeploymentSpec};
use k8s_openapi::api::core::v1::{PersistentVolumeClaim, Service, ServiceSpec};
use k8s_openapi::api::networking::v1::Ingress;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher as _};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A Deployment, as far as it matters.
#[derive(Debug, Default, PartialEq)]
pub struct DeploymentState {
    /// Pods that it should have.
    pub wanted: i32,
    /// Pods that there are, of any revision.
    pub replicas: i32,
    /// Pods of the newest revision.
    pub updated: i32,
    /// Pods that are ready, of any revision.
    pub ready: i32,
    /// Pods that have been ready for `minReadySeconds`, of any revision.
    pub available: i32,
    /// Whether the Deployment controller has seen the newest spec.
    pub observed: bool,
    /// A digest of the spec, for comparisons within this process.
    pub spec: u64,
    /// Whether pods are replaced all at once.
    pub recreates: bool,
    /// The resource that its selector names.
    pub instance: String,
    /// Image of the server's container.
    pub image: String,
    /// The generated ConfigMap or that of the user that it mounts.
    pub config_maps: Vec<String>,
    /// What earlier decisions of the builders left in it.
    pub live: LiveDeployment,
    /// Why the newest revision does not get on, if the Deployment controller says so.
    pub stuck: Option<String>,
}

impl DeploymentState {
    /// Reads the numbers and decisions that the operator needs, and leaves the rest.
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
            spec: digest(spec),
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
            live: LiveDeployment::of(deployment),
            stuck: failure,
        }
    }

    /// How many of `pods`, ready or available ones, have the current configuration. While pods of an older revision are
    /// there those count first, and the last one of the newest counts with the end of the rollout: what passes in between
    /// is not worth a write of the status.
    #[must_use]
    pub fn current(&self, pods: i32) -> i32 {
        match () {
            () if !self.observed => 0,
            () if self.is_rolling_out() => {
                (pods - (self.replicas - self.updated).max(0)).clamp(0, (self.wanted - 1).max(0))
            }
            () => pods,
        }
    }

    /// The ready pods; in a rollout no more than are wanted: what is above that is about to go.
    #[must_use]
    pub fn ready_for_status(&self) -> i32 {
        if self.is_rolling_out() { self.ready.min(self.wanted) } else { self.ready }
    }

    /// Whether pods of an older revision are still there, or those of the newest are not all there yet.
    #[must_use]
    pub fn is_rolling_out(&self) -> bool {
        !self.observed || self.updated < self.wanted || self.replicas > self.updated
    }
}

fn digest(spec: Option<&DeploymentSpec>) -> u64 {
    let mut hasher = DefaultHasher::new();
    // A spec that cannot be written down does not exist; it would count as unchanged.
    hasher.write(&serde_json::to_vec(&spec).unwrap_or_default());
    hasher.finish()
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
    /// Reads whether a claim is bound, and how large it is.
    #[must_use]
    pub fn of(claim: &PersistentVolumeClaim) -> Self {
        let requests = claim.spec.as_ref().and_then(|spec| spec.resources.as_ref()?.requests.as_ref());
        Self {
            phase: claim.status.as_ref().and_then(|status| status.phase.clone()).unwrap_or_default(),
            size: requests.and_then(|requests| requests.get("storage")).map(|size| size.0.clone()).unwrap_or_default(),
        }
    }
}

/// A Service, as far as it matters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServiceState {
    /// Its address inside the cluster, if it is of type `ClusterIP` and has one.
    pub address: Option<IpAddr>,
}

impl ServiceState {
    /// Reads what the status tells about a Service.
    #[must_use]
    pub fn of(service: &Service) -> Self {
        let spec = service.spec.as_ref();
        let is_plain = |spec: &&ServiceSpec| spec.type_.as_deref() == Some("ClusterIP");
        let address = spec.filter(is_plain).and_then(|spec| spec.cluster_ip.as_ref()?.parse().ok());
        Self { address }
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
    inner: Mutex<Inner<T>>,
}

#[derive(Debug)]
struct Inner<T> {
    all: HashMap<Key, (u128, Arc<T>)>,
    gone: Tombstones<Key>,
}

impl<T> Default for States<T> {
    fn default() -> Self {
        Self { inner: Mutex::new(Inner { all: HashMap::new(), gone: Tombstones::default() }) }
    }
}

impl<T: PartialEq> States<T> {
    /// The state of this name.
    #[must_use]
    pub fn get(&self, key: &Key) -> Option<Arc<T>> {
        self.lock().all.get(key).map(|(_, state)| Arc::clone(state))
    }

    /// Keeps a state of this resource version unless a later one is known, and says whether it differs from the one
    /// before.
    pub fn put(&self, key: Key, version: u128, state: T) -> bool {
        self.put_with(key, version, state, |state, _| state)
    }

    fn put_with(&self, key: Key, version: u128, state: T, settle: impl FnOnce(T, Option<&T>) -> T) -> bool {
        let mut inner = self.lock();
        let Inner { all, gone } = &mut *inner;
        let known = all.get(&key);
        if known.is_some_and(|(known, _)| *known > version) || (known.is_none() && gone.is_stale(&key, version)) {
            return false;
        }
        let state = settle(state, known.map(|(_, known)| &**known));
        let changed = known.is_none_or(|(_, known)| **known != state);
        if changed {
            all.insert(key, (version, Arc::new(state)));
        } else if let Some((known, _)) = all.get_mut(&key) {
            *known = version;
        }
        changed
    }

    /// The watch saw it go, as this version: states from before that are not kept any more.
    pub fn gone(&self, key: Key, version: u128) {
        let mut inner = self.lock();
        inner.all.remove(&key);
        inner.gone.note(key, version);
    }

    /// Forgets a state; nothing happens if there is none.
    pub fn remove(&self, key: &Key) {
        self.lock().all.remove(key);
    }

    fn lock(&self) -> MutexGuard<'_, Inner<T>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl States<DeploymentState> {
    /// As [`put`](Self::put). A generation that grows while the spec stays does not make the status an old one: the API
    /// server counts annotations of Deployments too, and nobody's annotation is to turn a ready resource into one that is
    /// not.
    pub fn put_deployment(&self, key: Key, version: u128, state: DeploymentState) -> bool {
        self.put_with(key, version, state, |mut state, before| {
            state.observed |= before.is_some_and(|before| before.observed && before.spec == state.spec);
            state
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deployment(generation: i64, replicas: i32, observed: i64) -> DeploymentState {
        let object = serde_json::json!({
            "metadata": {"generation": generation},
            "spec": {"replicas": replicas, "selector": {}, "template": {}},
            "status": {"observedGeneration": observed, "replicas": 1, "updatedReplicas": 1},
        });
        DeploymentState::of(&serde_json::from_value(object).unwrap())
    }

    #[test]
    fn pods_of_older_revisions_count_first() {
        let state = |replicas, updated, ready| DeploymentState {
            wanted: 2,
            replicas,
            updated,
            ready,
            observed: true,
            ..DeploymentState::default()
        };
        let current = |state: DeploymentState| state.current(state.ready);
        assert_eq!(current(DeploymentState { observed: false, ..state(2, 2, 2) }), 0);
        assert_eq!(current(state(3, 1, 2)), 0);
        assert_eq!(current(state(3, 1, 3)), 1);
        assert_eq!(current(state(3, 2, 3)), 1, "an old one is left");
        assert_eq!(current(state(2, 2, 2)), 2);
    }

    #[test]
    fn an_annotation_does_not_start_a_rollout() {
        let states = States::<DeploymentState>::default();
        let key = Key::new("ns", "a").expect("names");
        let is_rolling_out = || states.get(&key).unwrap().is_rolling_out();
        assert!(states.put_deployment(key.clone(), 1, deployment(1, 1, 1)));
        assert!(!is_rolling_out());
        assert!(!states.put_deployment(key.clone(), 2, deployment(2, 1, 1)), "nothing that matters has changed");
        assert!(!is_rolling_out());
        assert!(states.put_deployment(key.clone(), 3, deployment(3, 2, 2)));
        assert!(is_rolling_out());
        assert!(!states.put_deployment(key.clone(), 4, deployment(4, 2, 2)));
        assert!(is_rolling_out(), "the controller has not seen the change before either");
    }
    #[test]
    fn answers_and_events_may_come_in_any_order() {
        // Scaled from 0 to 2: the answer to the write (version 2), then what the controller makes of it.
        let steps = [(2, (2, 2, 1)), (3, (2, 2, 2))];
        let key = Key::new("ns", "a").expect("names");
        let orders: [&[usize]; 5] = [&[0, 1], &[1, 0], &[0, 0, 1], &[0, 1, 0], &[1, 0, 1]];
        for order in orders {
            let states = States::<DeploymentState>::default();
            states.put_deployment(key.clone(), 1, deployment(1, 0, 1));
            let mut woken = false;
            for at in order {
                let (version, (generation, replicas, observed)) = steps[*at];
                let changed = states.put_deployment(key.clone(), version, deployment(generation, replicas, observed));
                woken |= changed && version == 3;
            }
            let now = states.get(&key).unwrap();
            assert!(now.observed && now.wanted == 2, "{order:?}: {now:?}");
            assert!(woken, "{order:?}: the last state was told");
        }
        let states = States::<DeploymentState>::default();
        states.put_deployment(key.clone(), 1, deployment(1, 0, 1));
        states.gone(key.clone(), 3);
        assert!(!states.put_deployment(key.clone(), 2, deployment(2, 2, 1)), "it went after that");
        assert!(states.get(&key).is_none());
        assert!(states.put_deployment(key.clone(), 4, deployment(1, 0, 1)), "it was made again");
    }
}
