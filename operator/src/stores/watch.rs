//! The watches that keep the stores up to date, and what they have looked at again.

use super::children::{Adopted, ChildKey, ChildRecord};
use super::deployments::{ClaimState, DeploymentState, ServiceState, ingress_host};
use super::references::Reference;
use super::{Seen, Stored, Stores};
use crate::metrics::Metrics;
use crate::operator_config::OperatorConfig;
use crate::queue::{Key, Queue};
use crate::resources::{Kind, MANAGED_BY};
use crate::served::Served;
use futures_util::{StreamExt as _, pin_mut};
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::autoscaling::v2::HorizontalPodAutoscaler;
use k8s_openapi::api::core::v1::{ConfigMap, PersistentVolumeClaim, Secret, Service, ServiceAccount};
use k8s_openapi::api::networking::v1::{Ingress, NetworkPolicy};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use k8s_openapi::api::rbac::v1::RoleBinding;
use kube::core::{ApiResource, GroupVersionKind, ObjectMeta, PartialObjectMeta};
use kube::runtime::WatchStreamExt as _;
use kube::runtime::watcher::{Config, Event, watcher};
use kube::{Api, Client, Resource};
use llsd_generator::references::ReferenceKind;
use serde::de::DeserializeOwned;
use std::collections::HashSet;
use std::fmt::Debug;
use std::sync::Arc;
use tokio::task::JoinSet;

/// Objects in one page of a list: what is read at once takes memory at once.
const PAGE: u32 = 50;

/// What the tasks that watch share.
#[derive(Clone)]
struct Watches {
    client: Client,
    stores: Arc<Stores>,
    queue: Queue,
    metrics: Arc<Metrics>,
    served: &'static Served,
}

/// A step of a watch.
enum Step<K> {
    /// A list begins: what is not in it is gone.
    Begin,
    /// An object exists in this state: it was listed, created or changed.
    Is(K),
    /// An object was deleted in this state.
    Gone(K),
    /// The list is complete: what was not in it does not exist.
    Listed,
}

/// What a watch tells of one object.
enum Observed<'k, K> {
    /// The object exists in this state.
    Is(&'k K),
    /// It went, as this version; without one, it is missing from a list.
    Gone(Option<u128>),
}

/// Keeps the stores of the kind `served` up to date until it is dropped. `scopes` are namespaces, or `None` for all.
pub async fn run(
    client: Client,
    namespace: &str,
    scopes: &[Option<String>],
    stores: Arc<Stores>,
    queue: Queue,
    metrics: Arc<Metrics>,
    served: &'static Served,
) {
    let watches = Watches { client, stores, queue, metrics, served };
    let mut tasks = JoinSet::new();
    for scope in scopes {
        let scope = scope.as_deref();
        watches.resources(&mut tasks, scope);
        watches.child::<ConfigMap>(&mut tasks, scope, "configmaps");
        watches.child::<Secret>(&mut tasks, scope, "secrets");
        watches.child::<ServiceAccount>(&mut tasks, scope, "serviceaccounts");
        watches.child::<NetworkPolicy>(&mut tasks, scope, "networkpolicies");
        watches.child::<HorizontalPodAutoscaler>(&mut tasks, scope, "horizontalpodautoscalers");
        watches.child::<PodDisruptionBudget>(&mut tasks, scope, "poddisruptionbudgets");
        watches.child::<RoleBinding>(&mut tasks, scope, "rolebindings");
        let stores = Arc::clone(&watches.stores);
        watches.full::<Deployment>(&mut tasks, scope, "deployments", move |key, seen| match seen {
            Observed::Is(deployment) => stores.deployments.put_deployment(
                key,
                super::version(&deployment.metadata),
                DeploymentState::of(deployment),
            ),
            Observed::Gone(version) => {
                version.map_or_else(
                    || stores.deployments.remove(&key),
                    |version| stores.deployments.gone(key.clone(), version),
                );
                true
            }
        });
        let stores = Arc::clone(&watches.stores);
        watches.full::<PersistentVolumeClaim>(
            &mut tasks,
            scope,
            "persistentvolumeclaims",
            move |key, seen| match seen {
                Observed::Is(claim) => stores.claims.put(key, super::version(&claim.metadata), ClaimState::of(claim)),
                Observed::Gone(_) => {
                    stores.claims.remove(&key);
                    true
                }
            },
        );
        let stores = Arc::clone(&watches.stores);
        watches.full::<Service>(&mut tasks, scope, "services", move |key, seen| match seen {
            Observed::Is(service) => {
                stores.services.put(key, super::version(&service.metadata), ServiceState::of(service))
            }
            Observed::Gone(_) => {
                stores.services.remove(&key);
                true
            }
        });
        let stores = Arc::clone(&watches.stores);
        watches.full::<Ingress>(&mut tasks, scope, "ingresses", move |key, seen| match seen {
            Observed::Is(ingress) => {
                stores.ingresses.put(key, super::version(&ingress.metadata), ingress_host(ingress))
            }
            Observed::Gone(_) => {
                stores.ingresses.remove(&key);
                true
            }
        });
        watches.references::<ConfigMap>(&mut tasks, scope, ReferenceKind::ConfigMap);
        watches.references::<Secret>(&mut tasks, scope, ReferenceKind::Secret);
    }
    watches.operator_config(&mut tasks, namespace);
    while tasks.join_next().await.is_some() {}
}

/// Calls `handle` for every step of a watch that is taken up again whenever it breaks.
async fn drive<K>(what: &'static str, api: Api<K>, config: Config, mut handle: impl FnMut(Step<K>))
where
    K: Resource + Clone + DeserializeOwned + Debug + Send + 'static,
{
    let stream = watcher(api, config.page_size(PAGE)).default_backoff();
    pin_mut!(stream);
    while let Some(event) = stream.next().await {
        match event {
            Ok(Event::Init) => handle(Step::Begin),
            Ok(Event::InitApply(object) | Event::Apply(object)) => handle(Step::Is(object)),
            Ok(Event::Delete(object)) => handle(Step::Gone(object)),
            Ok(Event::InitDone) => handle(Step::Listed),
            Err(error) => tracing::warn!(watch = what, %error, "the watch broke off and is taken up again"),
        }
    }
}

fn scoped<K>(client: &Client, scope: Option<&str>) -> Api<K>
where
    K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>,
{
    scope.map_or_else(|| Api::all(client.clone()), |namespace| Api::namespaced(client.clone(), namespace))
}

/// Where an object is; `None` for names that no object of ours has, such as those of roles with a colon.
fn key_of(metadata: &ObjectMeta) -> Option<Key> {
    Key::new(metadata.namespace.as_deref()?, metadata.name.as_deref()?).ok()
}

fn place_of(plural: &'static str, metadata: &ObjectMeta) -> Option<ChildKey> {
    key_of(metadata).map(|Key { namespace, name }| (plural, namespace, name))
}

/// The resource that controls an object.
fn owner_of(metadata: &ObjectMeta, served: &Served) -> Option<Key> {
    let owner = metadata.owner_references.iter().flatten().find(|owner| owner.controller == Some(true))?;
    (owner.kind == served.kind().name()).then(|| Key::new(metadata.namespace.as_deref()?, &owner.name).ok())?
}

/// The resource that an object belongs to: the one that controls it, else, where that was lost, the one that its name
/// speaks of.
fn resource_of(plural: &str, metadata: &ObjectMeta, served: &Served) -> Option<Key> {
    if metadata.owner_references.iter().flatten().any(|owner| owner.controller == Some(true)) {
        return owner_of(metadata, served);
    }
    if let Some(adopted) = Adopted::of(metadata) {
        return Key::new(metadata.namespace.as_deref()?, &adopted.by).ok();
    }
    let name = metadata.name.as_deref()?;
    let base = Kind::ALL.into_iter().filter(|kind| kind.plural() == plural).find_map(|kind| match kind {
        Kind::Deployment => Some(name),
        Kind::GeneratedConfig => name.rsplit_once("-config-").map(|(base, _)| base),
        Kind::DerivedSecret => name.rsplit_once("-storage-").map(|(base, _)| base),
        kind => name.strip_suffix(kind.suffix())?.strip_suffix('-'),
    })?;
    Key::new(metadata.namespace.as_deref()?, base).ok()
}

/// Whether an object with our label is, or was, a child of a resource: anybody can put the label on any object, and
/// keeping those would only cost memory.
fn is_of_a_resource(plural: &str, metadata: &ObjectMeta, served: &Served) -> bool {
    match metadata.owner_references.iter().flatten().find(|owner| owner.controller == Some(true)) {
        Some(owner) => owner.kind == served.kind().name(),
        None => resource_of(plural, metadata, served).is_some(),
    }
}

/// Says once that a list is complete.
struct InitialList(Option<Arc<Stores>>);

impl InitialList {
    fn of(stores: &Arc<Stores>) -> Self {
        stores.expect_list();
        Self(Some(Arc::clone(stores)))
    }

    fn listed(&mut self) {
        if let Some(stores) = self.0.take() {
            stores.list_done();
        }
    }
}

impl Watches {
    fn resources(&self, tasks: &mut JoinSet<()>, scope: Option<&str>) {
        let served = self.served;
        let kind = GroupVersionKind::gvk(served.kind().group(), served.version.name(), served.kind().name());
        let kind = ApiResource::from_gvk_with_plural(&kind, served.plural);
        let api: Api<Seen> = match scope {
            None => Api::all_with(self.client.clone(), &kind),
            Some(namespace) => Api::namespaced_with(self.client.clone(), namespace, &kind),
        };
        let Self { stores, queue, metrics, .. } = self.clone();
        let mut first = InitialList::of(&stores);
        let scope = scope.map(str::to_owned);
        let mut missing = HashSet::new();
        tasks.spawn(drive("resources", api, Config::default(), move |step| match step {
            Step::Begin => {
                let here = |key: &Key| scope.as_deref().is_none_or(|scope| &*key.namespace == scope);
                missing = stores.resources.keys().into_iter().filter(here).collect();
            }
            Step::Is(object) => {
                let Some(key) = key_of(object.meta()) else { return };
                missing.remove(&key);
                // The answers to the operator's own writes are known before their events come.
                if stores.resources.put(key.clone(), Stored::read(&object)) {
                    metrics.resources(served, stores.resources.len());
                    queue.add(key);
                }
            }
            Step::Gone(object) => {
                let Some(key) = key_of(object.meta()) else { return };
                stores.resources.remove(&key);
                metrics.resources(served, stores.resources.len());
                queue.add(key);
            }
            Step::Listed => {
                for key in missing.drain() {
                    stores.resources.remove(&key);
                    queue.add(key);
                }
                metrics.resources(served, stores.resources.len());
                first.listed();
            }
        }));
    }

    /// Children of which the metadata is enough.
    fn child<K>(&self, tasks: &mut JoinSet<()>, scope: Option<&str>, plural: &'static str)
    where
        K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>
            + Clone
            + DeserializeOwned
            + Debug
            + Send
            + Sync
            + 'static,
    {
        let api: Api<PartialObjectMeta<K>> = scoped(&self.client, scope);
        let mut track = self.track(scope, plural);
        tasks.spawn(drive(plural, api, ours(self.served), move |step| match step {
            Step::Begin => track.begin(),
            Step::Is(object) => track.is(&object.metadata, false),
            Step::Gone(object) => track.gone(&object.metadata),
            Step::Listed => track.listed(),
        }));
    }

    /// Children of which more is needed: `keep` keeps it, and says whether it changed.
    fn full<K>(
        &self,
        tasks: &mut JoinSet<()>,
        scope: Option<&str>,
        plural: &'static str,
        keep: impl Fn(Key, Observed<'_, K>) -> bool + Send + 'static,
    ) where
        K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>
            + Clone
            + DeserializeOwned
            + Debug
            + Send
            + Sync
            + 'static,
    {
        let api: Api<K> = scoped(&self.client, scope);
        let mut track = self.track(scope, plural);
        tasks.spawn(drive(plural, api, ours(self.served), move |step| match step {
            Step::Begin => track.begin(),
            Step::Is(object) => {
                let Some(key) = key_of(object.meta()) else { return };
                let changed = keep(key, Observed::Is(&object));
                track.is(object.meta(), changed);
            }
            Step::Gone(object) => {
                let Some(key) = key_of(object.meta()) else { return };
                keep(key, Observed::Gone(Some(super::version(object.meta()))));
                track.gone(object.meta());
            }
            Step::Listed => {
                for (_, namespace, name) in &track.missing {
                    keep(Key { namespace: namespace.clone(), name: name.clone() }, Observed::Gone(None));
                }
                track.listed();
            }
        }));
    }

    fn track(&self, scope: Option<&str>, plural: &'static str) -> ChildWatch {
        ChildWatch {
            stores: Arc::clone(&self.stores),
            queue: self.queue.clone(),
            served: self.served,
            plural,
            scope: scope.map(str::to_owned),
            missing: HashSet::new(),
            first: InitialList::of(&self.stores),
        }
    }

    fn references<K>(&self, tasks: &mut JoinSet<()>, scope: Option<&str>, kind: ReferenceKind)
    where
        K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>
            + Clone
            + DeserializeOwned
            + Debug
            + Send
            + Sync
            + 'static,
    {
        let api: Api<PartialObjectMeta<K>> = scoped(&self.client, scope);
        let Self { stores, queue, .. } = self.clone();
        let scope = scope.map(str::to_owned);
        let mut missing = HashSet::new();
        let reference = move |metadata: &ObjectMeta| {
            key_of(metadata).map(|Key { namespace, name }| Reference { kind, namespace, name })
        };
        let seen = move |reference: &Reference, version: Option<&str>| {
            stores.references.seen(reference, version).into_iter().for_each(|key| queue.add(key));
        };
        let stores = Arc::clone(&self.stores);
        tasks.spawn(drive(kind.name(), api, Config::default(), move |step| match step {
            Step::Begin => missing = stores.references.all(kind, scope.as_deref()),
            Step::Is(object) => {
                let Some(reference) = reference(&object.metadata) else { return };
                missing.remove(&reference);
                seen(&reference, object.metadata.resource_version.as_deref());
            }
            Step::Gone(object) => reference(&object.metadata).iter().for_each(|reference| seen(reference, None)),
            Step::Listed => missing.drain().for_each(|reference| seen(&reference, None)),
        }));
    }

    fn operator_config(&self, tasks: &mut JoinSet<()>, namespace: &str) {
        let api: Api<ConfigMap> = Api::namespaced(self.client.clone(), namespace);
        let Self { stores, queue, served, .. } = self.clone();
        let name = served.settings;
        let mut first = InitialList::of(&stores);
        let config = Config::default().fields(&format!("metadata.name={name}"));
        let take = move |stores: &Stores, data: std::collections::BTreeMap<String, String>| {
            let (config, complaints) = OperatorConfig::read(name, &data, &stores.config());
            complaints.into_iter().for_each(|complaint| tracing::warn!("{complaint}"));
            if stores.set_config(config) {
                stores.resources.keys().into_iter().for_each(|key| queue.add(key));
            }
        };
        tasks.spawn(drive("operator config", api, config, move |step| match step {
            Step::Begin => {}
            Step::Is(object) => take(&stores, object.data.unwrap_or_default()),
            // Without it everything stays as it was, until it is there again.
            Step::Gone(_) => tracing::warn!("ConfigMap {name} was deleted; its last settings stay in force"),
            Step::Listed => first.listed(),
        }));
    }
}

fn ours(served: &Served) -> Config {
    Config::default().labels(&format!("{MANAGED_BY}={}", served.manager))
}

/// Follows one kind of children.
struct ChildWatch {
    stores: Arc<Stores>,
    queue: Queue,
    served: &'static Served,
    plural: &'static str,
    scope: Option<String>,
    missing: HashSet<ChildKey>,
    first: InitialList,
}

impl ChildWatch {
    fn begin(&mut self) {
        self.missing = self.stores.children.places(self.plural, self.scope.as_deref());
    }

    fn is(&mut self, metadata: &ObjectMeta, changed: bool) {
        let Some(place) = place_of(self.plural, metadata) else { return };
        let children = &self.stores.children;
        if !is_of_a_resource(self.plural, metadata, self.served) {
            // It may have been a child until now.
            let owner = children.remove(&place, metadata.uid.as_deref());
            if let Some(key) = owner.and_then(|owner| Key::new(&place.1, &owner).ok()) {
                self.queue.add(key);
            }
            return;
        }
        self.missing.remove(&place);
        let news = !children.knows(&place, metadata) && children.put(place, ChildRecord::read(metadata, self.served));
        if (news || changed)
            && let Some(owner) = resource_of(self.plural, metadata, self.served)
        {
            self.queue.add(owner);
        }
    }

    fn gone(&mut self, metadata: &ObjectMeta) {
        let Some(place) = place_of(self.plural, metadata) else { return };
        self.stores.children.gone(place, metadata.uid.as_deref(), super::version(metadata));
        if let Some(owner) = resource_of(self.plural, metadata, self.served) {
            self.queue.add(owner);
        }
    }

    fn listed(&mut self) {
        for place in self.missing.drain() {
            let owner = self.stores.children.remove(&place, None);
            if let Some(key) = owner.and_then(|owner| Key::new(&place.1, &owner).ok()) {
                self.queue.add(key);
            }
        }
        self.first.listed();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::served::LLAMA_STACK;
    use serde_json::json;

    fn metadata(name: &str, owner: Option<&str>) -> ObjectMeta {
        let owners: Vec<_> = owner
            .map(|kind| json!({"apiVersion": "x/v1", "kind": kind, "name": "a", "uid": "1", "controller": true}))
            .into_iter()
            .collect();
        let object = json!({
            "name": name, "namespace": "ns", "uid": "u", "resourceVersion": "5", "ownerReferences": owners,
            "labels": {MANAGED_BY: LLAMA_STACK.manager},
        });
        serde_json::from_value(object).expect("metadata")
    }

    #[test]
    fn what_only_has_the_label_is_not_kept() {
        let stores = Arc::new(Stores::default());
        let mut track = ChildWatch {
            stores: Arc::clone(&stores),
            queue: Queue::default(),
            served: &LLAMA_STACK,
            plural: "configmaps",
            scope: None,
            missing: HashSet::new(),
            first: InitialList(None),
        };
        for at in 0..100 {
            track.is(&metadata(&format!("mine-{at}"), None), false);
            track.is(&metadata(&format!("job-{at}"), Some("Job")), false);
        }
        assert_eq!(stores.children.len(), 0);
        track.is(&metadata("a-config-12345678", Some(llsd_generator::api::KIND)), false);
        track.is(&metadata("b-ca-bundle", None), false);
        assert_eq!(stores.children.len(), 2);
        // Its owner gives it up to another controller.
        let mut lost = metadata("a-config-12345678", Some("Job"));
        lost.resource_version = Some("6".to_owned());
        track.is(&lost, false);
        assert_eq!(stores.children.len(), 1);
    }
}
