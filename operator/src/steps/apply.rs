//! Writes the children that are not as they should be, and nothing else.

use super::ownership::{Ownership, adopted, foreign, ownership_of, take_over};
use crate::api::{self, Api, ApiError, GroupVersionResource};
use crate::queue::Key;
use crate::resources::{Child, Kind, Owner};
use crate::served::Served;
use crate::stores::children::{APPLIED, ChildKey, digest};
use crate::stores::deployments::DeploymentState;
use crate::stores::{ChildRecord, Stores};
use k8s_openapi::api::apps::v1::Deployment;
use llsd_generator::names::ObjectName;
use serde_json::{Value, json};

/// What applying the children came to.
#[derive(Debug, Default)]
pub struct Applied {
    /// Whether the Deployment was written.
    pub deployment: bool,
    /// The generated ConfigMap that was created.
    pub config_map: bool,
    /// Objects of others that have the name of a child, and other things that stand in the way.
    pub conflicts: Vec<String>,
    /// Whether the Deployment was left as it is, because pods would need one of those objects.
    pub deployment_skipped: bool,
}

/// Why the children could not all be written.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    /// The API server refuses an object for what it says: the resource has to change.
    #[error("{0}")]
    Refused(String),
    /// The request failed, and may succeed later.
    #[error(transparent)]
    Request(#[from] ApiError),
    /// A child was found that the stores did not know. They do now, and what is built may be built on it. Or one was
    /// there and is gone.
    #[error("a child object was created or deleted meanwhile; trying again")]
    Again,
}

impl ApplyError {
    fn of(error: ApiError, child: &Child) -> Self {
        let (_, _, kind) = child.kind.gvk();
        match error.status() {
            // 404: the namespace is gone; 409: a conflict; both pass.
            Some(answer)
                if (matches!(answer.code, 400 | 403 | 413 | 422) && !answer.message.contains("is being terminated"))
                    // What etcd says of an object beyond its limit comes as an error of the server.
                    || answer.message.contains("request is too large") =>
            {
                Self::Refused(format!("failed to apply {kind} \"{}\": {}", child.name(), error))
            }
            _ => Self::Request(error),
        }
    }
}

/// Applies the children in their order, then deletes those that are no longer wanted.
///
/// # Errors
/// The first child that cannot be written ends it; what depends on it is not written.
pub async fn apply(
    api: &Api,
    stores: &Stores,
    key: &Key,
    owner: &Owner,
    children: &[Child],
) -> Result<Applied, ApplyError> {
    let mut applied = Applied::default();
    for child in children.iter().filter(|child| !child.is_left_alone) {
        if child.kind == Kind::Deployment && applied.deployment_skipped {
            continue;
        }
        let before = applied.conflicts.len();
        let written = one(api, stores, key, owner, child, &mut applied).await?;
        applied.deployment_skipped |= is_needed_by_pods(child.kind) && applied.conflicts.len() > before;
        applied.deployment |= written && child.kind == Kind::Deployment;
        applied.config_map |= written && child.kind == Kind::GeneratedConfig;
    }
    remove_others(api, stores, owner, children).await?;
    Ok(applied)
}

/// Whether pods cannot do without it. What is somebody else's is not mounted; a foreign Service, policy, autoscaler,
/// budget or Ingress is reported, and keeps no server from running.
fn is_needed_by_pods(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::CaBundle
            | Kind::GeneratedConfig
            | Kind::DerivedSecret
            | Kind::PersistentVolumeClaim
            | Kind::ServiceAccount
            | Kind::Deployment
    )
}

/// Writes one child if it has to be written, and says whether it was.
async fn one(
    api: &Api,
    stores: &Stores,
    key: &Key,
    owner: &Owner,
    child: &Child,
    applied: &mut Applied,
) -> Result<bool, ApplyError> {
    let resource = GroupVersionResource::from(child.kind);
    let name = &ObjectName::parse(child.name()).map_err(ApiError::from)?;
    let wanted = digest(&child.object);
    let place = || (child.kind.plural(), key.namespace.clone(), name.clone());
    let body = || marked(&child.object, wanted);
    let Some(record) = stores.children.get(child.kind, &key.namespace, name) else {
        return match create(api, resource, key, (child, name), &body()).await {
            Ok(Some(answer)) => {
                settle(stores, (key, owner.served), child, place(), answer, wanted);
                Ok(true)
            }
            Ok(None) => exists(api, stores, key, owner, (child, name), applied).await,
            Err(error) => Err(ApplyError::of(error, child)),
        };
    };
    match ownership_of(child, &record, owner) {
        Ownership::Ours if child.kind.is_create_only() => return Ok(false),
        // It is to have no owner, so that it outlives the resource.
        Ownership::Lost if child.object["metadata"]["ownerReferences"].is_null() => return Ok(false),
        Ownership::Lost if child.kind == Kind::Deployment && !selects(stores, key) => {
            applied.conflicts.push(foreign(child, None));
            return Ok(false);
        }
        Ownership::Ours | Ownership::Lost => {}
        Ownership::Foreign(what) => {
            applied.conflicts.push(what);
            return Ok(false);
        }
    }
    let ours = record.owner.is_some();
    if ours && stores.children.is_in_sync(&place(), &record, wanted, &child.object) {
        return Ok(false);
    }
    // A replica count that is no longer ours must stay what it is: taken back, it would become 1 for a moment.
    let release = record.replicas && child.kind == Kind::Deployment && child.object["spec"]["replicas"].is_null();
    if record.legacy || release {
        take_over(api, resource, (key, owner), name, release).await?;
    }
    if child.kind == Kind::Deployment {
        switch_strategy(api, stores, key, (child, name)).await?;
    }
    let answer =
        api.apply(resource, &key.namespace, name, &body()).await.map_err(|error| ApplyError::of(error, child))?;
    settle(stores, (key, owner.served), child, place(), answer, wanted);
    Ok(true)
}

/// Creates a child; `None` if an object of its name exists. A POST tells that in one request, but leaves fields that the
/// first server-side apply must take over with another write. A Deployment is changed more often than anything else, so
/// it is looked for instead, and created by an apply. One that comes at the same moment is not seen by that, as by any
/// look, but its fields are then a conflict.
async fn create(
    api: &Api,
    resource: GroupVersionResource,
    key: &Key,
    (child, name): (&Child, &ObjectName),
    body: &Value,
) -> api::Result<Option<Value>> {
    let answer = if child.kind == Kind::Deployment {
        if api.exists(resource, &key.namespace, name).await? {
            return Ok(None);
        }
        api.create_applied(resource, &key.namespace, name, body).await
    } else {
        api.create(resource, &key.namespace, body).await
    };
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(error) if error.code() == Some(409) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether the live Deployment is for pods of this resource.
fn selects(stores: &Stores, key: &Key) -> bool {
    stores.deployments.get(key).is_some_and(|state| *state.instance == *key.name)
}

/// Keeps what the API server made of a child, so that the status can tell of it before the watch does.
fn settle(
    stores: &Stores,
    (key, served): (&Key, &Served),
    child: &Child,
    place: ChildKey,
    answer: Value,
    applied: u64,
) {
    let record = record_of(&answer, served);
    if child.kind == Kind::Deployment {
        know_deployment(stores, key, &record, answer);
    }
    stores.children.settle(place, record, applied);
}

fn know_deployment(stores: &Stores, key: &Key, record: &ChildRecord, object: Value) {
    if let Ok(deployment) = serde_json::from_value::<Deployment>(object) {
        stores.deployments.put_deployment(key.clone(), record.version, DeploymentState::of(&deployment));
    }
}

/// An object of this name exists that the stores do not know: somebody else's, or one that is about to be seen.
async fn exists(
    api: &Api,
    stores: &Stores,
    key: &Key,
    owner: &Owner,
    (child, name): (&Child, &ObjectName),
    applied: &mut Applied,
) -> Result<bool, ApplyError> {
    let resource = GroupVersionResource::from(child.kind);
    // It was deleted between the two requests: the next reconcile creates it.
    let Some(object) = api.get(resource, Some(&key.namespace), name).await? else { return Err(ApplyError::Again) };
    let record = record_of(&object, owner.served);
    if record.owner.is_none() && child.object["metadata"]["ownerReferences"].is_null() {
        return Ok(false);
    }
    if record.owner.as_deref() != Some(owner.uid.as_str()) {
        let adopted = record.adoption.as_ref().map(|adoption| adopted(child, &adoption.by));
        applied.conflicts.push(adopted.unwrap_or_else(|| foreign(child, record.owner.as_deref())));
        return Ok(false);
    }
    if !child.kind.is_create_only() {
        // Ours, but without the label that it is watched by. What is built next has to know it: otherwise a Deployment
        // would lose what is kept of it, and its pods would restart.
        let place = (child.kind.plural(), key.namespace.clone(), name.clone());
        if child.kind == Kind::Deployment {
            know_deployment(stores, key, &record, object);
        }
        stores.children.put(place, record);
        return Err(ApplyError::Again);
    }
    if child.kind == Kind::GeneratedConfig && object["data"] != child.object["data"] {
        applied.conflicts.push(format!(
            "ConfigMap \"{}\" has other content than the generated configuration. Delete it, so that it is made again",
            child.name()
        ));
    }
    Ok(false)
}

/// The object with the annotation by which it is recognised after a start.
fn marked(object: &Value, digest: u64) -> Value {
    let mut object = object.clone();
    object["metadata"]["annotations"][APPLIED] = json!(format!("{digest:016x}"));
    object
}

fn record_of(answer: &Value, served: &Served) -> ChildRecord {
    let metadata = serde_json::from_value(answer["metadata"].clone());
    metadata.map(|metadata| ChildRecord::read(&metadata, served)).unwrap_or_default()
}

/// The API server refuses `Recreate` beside the settings of a rolling update, which it may have filled in itself.
async fn switch_strategy(
    api: &Api,
    stores: &Stores,
    key: &Key,
    (child, name): (&Child, &ObjectName),
) -> Result<(), ApplyError> {
    let recreates = child.object["spec"]["strategy"]["type"] == "Recreate";
    let Some(state) = stores.deployments.get(key) else { return Ok(()) };
    if recreates && !state.recreates {
        let patch = json!({"spec": {"strategy": {"type": "Recreate", "rollingUpdate": null}}});
        api.merge(GroupVersionResource::from(Kind::Deployment), &key.namespace, name, &patch).await?;
    }
    Ok(())
}

/// Deletes owned children that are not wanted any more.
async fn remove_others(api: &Api, stores: &Stores, owner: &Owner, wanted: &[Child]) -> Result<(), ApplyError> {
    for ((plural, namespace, name), record) in stores.children.of(&owner.uid) {
        let kind = Kind::ALL.into_iter().find(|kind| kind.plural() == plural && is_of(*kind, &record));
        let Some(kind) = kind.filter(|kind| kind.is_removable() && !record.deleting) else { continue };
        if !wanted.iter().any(|child| child.kind.plural() == plural && child.name() == &*name) {
            tracing::info!(%namespace, %name, kind = kind.gvk().2, "a child is not wanted any more and is deleted");
            api.delete(GroupVersionResource::from(kind), Some(&namespace), &name, &record.uid).await?;
        }
    }
    Ok(())
}

/// Two kinds of children are ConfigMaps.
fn is_of(kind: Kind, record: &ChildRecord) -> bool {
    match kind {
        Kind::GeneratedConfig => record.component.as_deref() == Some(crate::resources::config::GENERATED),
        Kind::CaBundle => record.component.as_deref() == Some("ca-bundle"),
        _ => true,
    }
}
