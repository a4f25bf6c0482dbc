//! What the cluster has beside a resource that is being written: its Secrets and ConfigMaps, and the operator's own
//! switches. It is asked for warnings alone: what is missing may be applied a moment later, and what cannot be told in
//! time is not said.

use crate::api::{Api, CONFIG_MAPS};
use crate::lease::Permit;
use crate::metrics::Metrics;
use crate::operator_config::OperatorConfig;
use crate::served::LLAMA_STACK;
use crate::stores::references::{Content, Reference, References};
use futures_util::stream::{self, StreamExt as _};
use kube::Client;
use llsd_generator::api::ApiVersion;
use llsd_generator::check::{Facts, ReferenceKind, Request, required_references};
use llsd_generator::names::{Namespace, ObjectName};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

/// How long a write may wait for warnings.
const PATIENCE: Duration = Duration::from_secs(1);
/// Objects that are asked for. A resource that refers to more gets no warnings about them.
const OBJECTS: usize = 24;

/// Objects of one resource that are asked for at once.
const AT_ONCE: usize = 4;
/// Resources whose surroundings are asked for at once; others get no such warnings.
const PLACES: usize = 2;

/// Namespace and name of objects, with what they hold.
type Objects = BTreeMap<(String, String), BTreeMap<String, String>>;

/// Reads them from the API server, within bounds that all reviews share.
#[derive(Clone)]
pub struct Surroundings {
    api: Api,
    places: Arc<Semaphore>,
    /// The operator's namespace, whose ConfigMap has the switches. `None`: it is no name, and no switch is known.
    own: Option<Namespace>,
}

impl Surroundings {
    /// Asks through `client`, and counts that in `metrics`; `namespace` is the operator's own.
    #[must_use]
    pub fn new(client: Client, metrics: Arc<Metrics>, namespace: &str) -> Self {
        let api = Api::new(client, metrics, Permit::default(), &LLAMA_STACK);
        Self { api, places: Arc::new(Semaphore::new(PLACES)), own: Namespace::parse(namespace).ok() }
    }

    /// What can be told in time about the surroundings of a resource that goes into `namespace`. `None`: nothing.
    pub(super) async fn facts(&self, version: ApiVersion, object: &Value, namespace: &str) -> Option<Facts> {
        let namespace = Namespace::parse(namespace).ok()?;
        let _place = self.places.try_acquire().ok()?;
        let facts = tokio::time::timeout(PATIENCE, self.asked(version, object, &namespace)).await.ok()?;
        let tell = facts.secrets.is_some() || facts.config_maps.is_some() || facts.network_policies.is_some();
        tell.then_some(facts)
    }

    async fn asked(&self, version: ApiVersion, object: &Value, namespace: &Namespace) -> Facts {
        let asking = wanted(version, object, namespace).into_iter().map(|reference| async move {
            let answer = References::read(&self.api, &reference).await;
            let said = answer.map(|found| {
                found.map(|content| {
                    let data = match reference.kind {
                        // of a Secret no value is kept
                        ReferenceKind::Secret => keys(&content),
                        ReferenceKind::ConfigMap => content.texts(),
                    };
                    (data, content.readings(), content.is_watched)
                })
            });
            (reference, said)
        });
        let (answers, network_policies) = tokio::join!(
            stream::iter(asking).buffered(AT_ONCE).collect::<Vec<_>>(),
            self.network_policies(version, namespace)
        );
        let mut known: BTreeMap<ReferenceKind, Option<Objects>> = BTreeMap::new();
        let (mut readings, mut unwatched) = (BTreeMap::new(), BTreeSet::new());
        for (reference, answer) in answers {
            let of_kind = known.entry(reference.kind).or_insert_with(|| Some(Objects::new()));
            let key = (reference.namespace.to_string(), reference.name.to_string());
            match (answer, of_kind.as_mut()) {
                (Ok(Some((data, read, is_watched))), Some(all)) => {
                    unwatched.extend((!is_watched).then(|| (reference.kind, key.clone())));
                    readings.insert((reference.kind, key.clone()), read);
                    all.insert(key, data);
                }
                (Ok(_), _) => {}
                // what may not be read is not known to be missing
                (Err(_), _) => *of_kind = None,
            }
        }
        let without_values =
            |all: Objects| all.into_iter().map(|(key, data)| (key, data.into_keys().collect())).collect();
        Facts {
            namespace: Some(namespace.to_string()),
            secrets: known.remove(&ReferenceKind::Secret).flatten().map(without_values),
            config_maps: known.remove(&ReferenceKind::ConfigMap).flatten(),
            readings,
            unwatched,
            network_policies,
            ..Facts::default()
        }
    }

    /// Whether the operator makes network policies for the resources of a namespace. `None`: that is not known, or the
    /// resource alone decides it.
    async fn network_policies(&self, version: ApiVersion, namespace: &Namespace) -> Option<bool> {
        if version.kind() != LLAMA_STACK.kind() {
            return None;
        }
        let name = ObjectName::parse(LLAMA_STACK.settings).ok()?;
        let found = self.api.get(CONFIG_MAPS, Some(self.own.as_ref()?), &name).await.ok()?;
        let data = found.map(|object| object["data"].clone()).unwrap_or_default();
        let data: Option<BTreeMap<String, String>> = serde_json::from_value(data).ok()?;
        let (config, complaints) =
            OperatorConfig::read(LLAMA_STACK.settings, &data.unwrap_or_default(), &OperatorConfig::default());
        complaints.is_empty().then(|| config.flags(namespace).network_policy)
    }
}

/// The keys of an object, without their values.
fn keys(content: &Content) -> BTreeMap<String, String> {
    content.data.keys().map(|key| (key.clone(), String::new())).collect()
}

/// The objects that a resource refers to, by names that objects can have; none where there are too many.
fn wanted(version: ApiVersion, object: &Value, namespace: &Namespace) -> BTreeSet<Reference> {
    let (unknown, facts) = (BTreeSet::new(), Facts::default());
    let request = Request { version, value: object, old: None, unknown: &unknown, facts: &facts };
    let reference =
        |kind, name: &str| Some(Reference { kind, namespace: namespace.clone(), name: ObjectName::parse(name).ok()? });
    let wanted: BTreeSet<Reference> =
        required_references(&request).iter().filter_map(|one| reference(one.kind, one.name)).collect();
    if wanted.len() > OBJECTS { BTreeSet::new() } else { wanted }
}
