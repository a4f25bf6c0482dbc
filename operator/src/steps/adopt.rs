//! What an `OGXServer` takes over from a `LlamaStackDistribution`: its volume, its Service and its Ingress, as two
//! annotations ask for it. Source: ogx-k8s-operator, which passes over what the old operator labelled; here it is found.
//!
//! The volume is taken from its old owner before anything else happens to it: from then on nothing that becomes of the old
//! resource deletes it, and an operator of this program that looks after the old resource, too, leaves its Deployment
//! alone. Only then the old pods go, and only when they are gone the new ones come.

use super::conditions::{self, Conditions};
use crate::api::{self, Api, GroupVersionResource, PODS};
use crate::queue::Key;
use crate::resources::{Child, INSTANCE, Kind, MANAGED_BY, Owner, PART_OF};
use crate::stores::Stores;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use llsd_generator::api::GROUP;
use llsd_generator::names::ObjectName;
use llsd_generator::ogx::rules::adoption::{NETWORKING, STORAGE};
use serde_json::{Map, Value, json};
use std::time::Duration;

/// The label that names the resource which an adopted object was taken from.
pub const FROM: &str = "ogx.io/adopted-from";
/// The annotation that tells when an adoption was complete.
pub const AT: &str = "ogx.io/adopted-at";

/// How soon pods are looked for again that are on their way out.
const PODS_GO: Duration = Duration::from_secs(5);
/// How soon an object is looked for again that is not there: nobody tells of it.
const MISSING: Duration = Duration::from_secs(60);

/// How far the adoption of one thing has got.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// It belongs to the resource.
    Done(String),
    /// It takes its time: what for.
    Waiting(String),
}

/// What a resource has taken over so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Adoption {
    /// The claim that the pods mount in place of their own.
    pub claim: Option<String>,
    /// Objects of others that belong to the resource now, by kind and name.
    pub kept: Vec<(Kind, String)>,
    /// How far the volume is, if there is one to take over.
    pub storage: Option<Progress>,
    /// The same of Service and Ingress.
    pub networking: Option<Progress>,
    /// When to look again, where nothing that is watched will tell: an object is missing, or pods are on their way out.
    pub again: Option<Duration>,
}

impl Adoption {
    /// Whether the pods have to wait for their volume.
    #[must_use]
    pub fn holds_pods(&self) -> bool {
        matches!(self.storage, Some(Progress::Waiting(_)))
    }

    /// Says how far it is.
    pub fn tell(&self, conditions: &mut Conditions) {
        for (condition, progress) in
            [(conditions::STORAGE_ADOPTED, &self.storage), (conditions::NETWORKING_ADOPTED, &self.networking)]
        {
            match progress {
                Some(Progress::Done(message)) => conditions.set(condition, true, "Adopted", message.clone()),
                Some(Progress::Waiting(message)) => conditions.set(condition, false, "Waiting", message.clone()),
                None => {}
            }
        }
    }

    /// The objects that are kept although no builder makes them.
    pub fn children<'a>(&'a self, owner: &'a Owner) -> impl Iterator<Item = Child> + use<'a> {
        self.kept.iter().map(move |(kind, name)| Child {
            kind: *kind,
            object: json!({"metadata": {"name": name, "namespace": owner.namespace}}),
            is_left_alone: true,
        })
    }
}

/// One adoption: what its steps share.
pub struct Adopter<'a> {
    /// Where the objects are changed.
    pub api: &'a Api,
    /// What is known of them.
    pub stores: &'a Stores,
    /// The resource that takes over.
    pub key: &'a Key,
    /// The same for owner references.
    pub owner: &'a Owner,
    /// The resource as the API server has it: its annotations say what to adopt.
    pub object: &'a Value,
}

/// Why an adoption stops. No child of the resource is applied then.
#[derive(Debug, thiserror::Error)]
pub enum AdoptError {
    /// Something of somebody else's has the name.
    #[error("{0}")]
    Refused(String),
    /// What the API server says.
    #[error(transparent)]
    Request(#[from] api::ApiError),
}

impl Adopter<'_> {
    /// Takes over what the annotations name, as far as that is possible now.
    ///
    /// # Errors
    /// It belongs to somebody else, or a request failed.
    pub async fn adopt(&self, now: &Time) -> Result<Adoption, AdoptError> {
        let mut adoption = Adoption::default();
        match self.named(STORAGE) {
            Some(old) => self.storage(&old, now, &mut adoption).await?,
            // What was adopted stays so without the annotation.
            None => {
                adoption.claim =
                    self.stores.children.adopted(Kind::PersistentVolumeClaim, &self.key.namespace, &self.key.name);
            }
        }
        if let Some(old) = self.named(NETWORKING).filter(|_| !adoption.holds_pods()) {
            self.networking(&old, now, &mut adoption).await?;
        }
        Ok(adoption)
    }

    /// The old resource that an annotation names. That it is a name has been checked.
    fn named(&self, annotation: &str) -> Option<ObjectName> {
        ObjectName::parse(self.object["metadata"]["annotations"][annotation].as_str()?).ok()
    }

    async fn storage(&self, old: &ObjectName, now: &Time, adoption: &mut Adoption) -> Result<(), AdoptError> {
        let kind = Kind::PersistentVolumeClaim;
        let name = kind.name(old);
        let done = || Progress::Done(format!("PersistentVolumeClaim \"{name}\" is adopted from \"{old}\""));
        let record = ObjectName::parse(&name).ok().and_then(|name| {
            let record = self.stores.children.get(kind, &self.key.namespace, &name)?;
            record.adoption.filter(|known| record.owner.is_none() && *known.by == *self.key.name)
        });
        if !record.as_ref().is_some_and(|known| known.done) {
            let Some((name, claim)) = self.find(kind, old).await? else {
                let message =
                    format!("There is no PersistentVolumeClaim \"{name}\" in namespace \"{}\"", self.key.namespace);
                adoption.storage = Some(Progress::Waiting(message));
                adoption.again = Some(MISSING);
                return Ok(());
            };
            if record.is_none() {
                self.detach(kind, &name, &claim).await?;
            }
            if let Some(message) = self.old_pods(old).await? {
                adoption.storage = Some(Progress::Waiting(message));
                adoption.again = Some(PODS_GO);
                return Ok(());
            }
            let complete = json!({"metadata": {"annotations": {AT: now}}});
            self.api.merge(kind.into(), &self.key.namespace, &name, &complete).await?;
        }
        adoption.claim = Some(name.clone());
        adoption.storage = Some(done());
        Ok(())
    }

    async fn networking(&self, old: &ObjectName, now: &Time, adoption: &mut Adoption) -> Result<(), AdoptError> {
        let mut missing = Vec::new();
        for kind in [Kind::Service, Kind::Ingress] {
            let name = kind.name(old);
            let known = ObjectName::parse(&name)
                .ok()
                .and_then(|name| self.stores.children.get(kind, &self.key.namespace, &name));
            if known.is_none_or(|record| record.owner.as_deref() != Some(self.owner.uid.as_str())) {
                match self.find(kind, old).await? {
                    Some((name, found)) => self.take(kind, &name, &found, now).await?,
                    None => {
                        missing.push(name);
                        continue;
                    }
                }
            }
            adoption.kept.push((kind, name));
        }
        let service = Kind::Service.name(old);
        adoption.networking = Some(if missing.contains(&service) {
            adoption.again = Some(MISSING);
            Progress::Waiting(format!("There is no Service \"{service}\" in namespace \"{}\"", self.key.namespace))
        } else {
            Progress::Done(format!("Service \"{service}\" is adopted from \"{old}\" and leads to this server"))
        });
        Ok(())
    }

    /// An object of the old resource, unless it belongs to somebody else.
    async fn find(&self, kind: Kind, old: &ObjectName) -> Result<Option<(ObjectName, Value)>, AdoptError> {
        let name = ObjectName::parse(&kind.name(old)).map_err(api::ApiError::from)?;
        let Some(object) = self.api.get(kind.into(), Some(&self.key.namespace), &name).await? else { return Ok(None) };
        let metadata = &object["metadata"];
        let controller = controllers(metadata).next();
        if let Some(owner) = controller.filter(|owner| !is_of(owner, old) && owner["uid"] != self.owner.uid) {
            let (_, _, what) = kind.gvk();
            let (kind, owner) =
                (owner["kind"].as_str().unwrap_or_default(), owner["name"].as_str().unwrap_or_default());
            let message = format!("failed to adopt {what} {name}: unexpected controller owner {kind} {owner}");
            return Err(AdoptError::Refused(message));
        }
        let by = metadata["labels"][INSTANCE].as_str().filter(|by| *by != &*self.key.name);
        if let Some(by) = by.filter(|_| metadata["labels"][FROM].is_string()) {
            let (_, _, what) = kind.gvk();
            let message = format!("failed to adopt {what} {name}: OGXServer \"{by}\" has adopted it");
            return Err(AdoptError::Refused(message));
        }
        Ok(Some((name, object)))
    }

    /// Takes a claim from its old owner, and labels it as this resource's.
    async fn detach(&self, kind: Kind, name: &ObjectName, claim: &Value) -> api::Result<()> {
        let owners = others(&claim["metadata"]);
        let patch = json!({"metadata": {
            "resourceVersion": claim["metadata"]["resourceVersion"],
            "ownerReferences": if owners.is_empty() { Value::Null } else { json!(owners) },
            "labels": self.labels(name, kind),
        }});
        tracing::info!(namespace = &*self.key.namespace, %name, "taking the claim from its old owner");
        self.api.merge(kind.into(), &self.key.namespace, name, &patch).await.map(drop)
    }

    /// Makes this resource the owner of a Service or Ingress, and has a Service lead to its pods. Ports stay.
    async fn take(&self, kind: Kind, name: &ObjectName, found: &Value, now: &Time) -> api::Result<()> {
        let mut owners = others(&found["metadata"]);
        owners.push(crate::resources::owner_reference(self.owner));
        let mut patch = json!({"metadata": {
            "resourceVersion": found["metadata"]["resourceVersion"],
            "ownerReferences": owners,
            "labels": self.labels(name, kind),
            "annotations": {AT: now},
        }});
        if kind == Kind::Service {
            let before = found["spec"]["selector"].as_object().into_iter().flatten();
            let mut selector: Map<String, Value> = before.map(|(key, _)| (key.clone(), Value::Null)).collect();
            selector.insert("app".to_owned(), json!(self.owner.served.app));
            selector.insert(INSTANCE.to_owned(), json!(self.owner.name));
            patch["spec"] = json!({ "selector": selector });
        }
        self.api.merge(kind.into(), &self.key.namespace, name, &patch).await.map(drop)
    }

    fn labels(&self, name: &ObjectName, kind: Kind) -> Value {
        let served = self.owner.served;
        let old = name.strip_suffix(kind.suffix()).and_then(|old| old.strip_suffix('-')).unwrap_or_default();
        json!({
            MANAGED_BY: served.manager,
            PART_OF: served.part_of,
            served.watch: "true",
            FROM: old,
            INSTANCE: self.owner.name,
        })
    }

    /// Has the old pods go; says what is waited for while some are left.
    async fn old_pods(&self, old: &ObjectName) -> api::Result<Option<String>> {
        let deployment = GroupVersionResource::from(Kind::Deployment);
        let namespace = &self.key.namespace;
        let found = self.api.get(deployment, Some(namespace), old).await?;
        if let Some(found) = found.filter(|found| controllers(&found["metadata"]).any(|owner| is_of(owner, old)))
            && found["spec"]["replicas"] != 0
        {
            let patch = json!({
                "metadata": {"resourceVersion": found["metadata"]["resourceVersion"]},
                "spec": {"replicas": 0},
            });
            self.api.merge(deployment, namespace, old, &patch).await?;
            return Ok(Some(format!("Deployment \"{old}\" is being scaled down to 0")));
        }
        let pods = self.api.list(PODS, Some(namespace), (INSTANCE, old)).await?.len();
        Ok((pods > 0).then(|| format!("{pods} pods of \"{old}\" are still there and may use the volume")))
    }
}

fn controllers(metadata: &Value) -> impl Iterator<Item = &Value> {
    metadata["ownerReferences"].as_array().into_iter().flatten().filter(|owner| owner["controller"] == true)
}

/// The owners that do not control the object.
fn others(metadata: &Value) -> Vec<Value> {
    let all = metadata["ownerReferences"].as_array().into_iter().flatten();
    all.filter(|owner| owner["controller"] != true).cloned().collect()
}

/// Whether an owner is the old resource, in whichever version it is named.
fn is_of(owner: &Value, old: &ObjectName) -> bool {
    let group = owner["apiVersion"].as_str().and_then(|version| version.split_once('/')).map(|(group, _)| group);
    group == Some(GROUP) && owner["kind"] == llsd_generator::api::KIND && owner["name"] == **old
}
