//! The LlamaStackDistribution resources, each as the compact text of its JSON: a tree of values takes ten times as much.

use super::seen::{Managers, Seen};
use crate::extent::{Extent, JUDGED_DEPTH, JUDGED_VALUES};
use crate::lane::LARGE;
use crate::queue::Key;
use kube::Resource as _;
use llsd_generator::api::ApiVersion;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

/// One resource as it was last seen.
#[derive(Debug)]
pub struct Stored {
    /// `metadata.uid`: another resource may get the name later, with another UID.
    pub uid: String,
    /// `metadata.resourceVersion` as a number, so that older news can be told from newer.
    pub version: u128,
    /// The version that its `overrideConfig` was written in.
    pub written_as: ApiVersion,
    /// Whether fields of it were written in v1alpha1.
    pub is_older: bool,
    /// Whether it is being deleted.
    pub deleting: bool,
    /// Why a part of it is left out: as values it would take more memory than one resource may.
    pub fault: Option<String>,
    api_version: String,
    kind: String,
    /// All of it but `managedFields`, as text, as the next two.
    metadata: Box<str>,
    spec: Box<str>,
    status: Box<str>,
}

impl Stored {
    /// Reads what the API server sent. Managed fields are looked at once and dropped.
    #[must_use]
    pub fn read(seen: &Seen) -> Self {
        let managers: Managers = serde_json::from_str(seen.metadata.get()).unwrap_or_default();
        let mut fault = None;
        let mut bounded = |what: &str, text: &str, without: &str| -> Box<str> {
            match Extent::of(text.as_bytes()).fault(what, JUDGED_VALUES, JUDGED_DEPTH) {
                None => text.into(),
                Some(found) => {
                    fault.get_or_insert(found);
                    without.into()
                }
            }
        };
        let identity = serde_json::to_string(seen.meta()).unwrap_or_default();
        Self {
            uid: seen.meta().uid.clone().unwrap_or_default(),
            version: super::version(seen.meta()),
            written_as: managers.written_as(),
            is_older: managers.is_older(),
            deleting: seen.meta().deletion_timestamp.is_some(),
            spec: bounded("spec", text(seen.spec.as_deref()), "null"),
            status: bounded("status", text(seen.status.as_deref()), "null"),
            metadata: bounded("metadata", &unmanaged(&seen.metadata), &identity),
            api_version: seen.api_version.clone(),
            kind: seen.kind.clone(),
            fault,
        }
    }

    /// Whether two states differ in more than their status: in what somebody else than the operator writes.
    #[must_use]
    pub fn differs(&self, other: &Self) -> bool {
        let metadata = |stored: &Self| {
            let mut metadata: Value = serde_json::from_str(&stored.metadata).unwrap_or_default();
            metadata["resourceVersion"] = Value::Null;
            metadata
        };
        self.spec != other.spec || metadata(self) != metadata(other)
    }

    /// Whether it takes much of whoever reads, judges or writes it, the API server included.
    #[must_use]
    pub fn is_large(&self) -> bool {
        self.fault.is_some() || self.metadata.len() + self.spec.len() + self.status.len() > LARGE
    }

    /// Parses the whole object out of its compact form, but for what [`fault`](Self::fault) speaks of.
    #[must_use]
    pub fn object(&self) -> Value {
        let read = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
        json!({
            "apiVersion": self.api_version,
            "kind": self.kind,
            "metadata": read(&self.metadata),
            "spec": read(&self.spec),
            "status": read(&self.status),
        })
    }
}

/// The text of a part of a resource that may be absent.
fn text(part: Option<&RawValue>) -> &str {
    part.map_or("null", RawValue::get)
}

/// The JSON of an object's metadata, without the `managedFields` in it.
fn unmanaged(metadata: &RawValue) -> String {
    let mut fields: BTreeMap<&str, &RawValue> = serde_json::from_str(metadata.get()).unwrap_or_default();
    fields.remove("managedFields");
    serde_json::to_string(&fields).unwrap_or_default()
}

/// What is known of all resources, by namespace and name.
#[derive(Debug, Default)]
pub struct Resources {
    all: Mutex<HashMap<Key, Arc<Stored>>>,
}

impl Resources {
    /// The resource of this name.
    #[must_use]
    pub fn get(&self, key: &Key) -> Option<Arc<Stored>> {
        self.lock().get(key).cloned()
    }

    /// The keys of all resources, in no order.
    #[must_use]
    pub fn keys(&self) -> Vec<Key> {
        self.lock().keys().cloned().collect()
    }

    /// Number of resources that are known.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().len()
    }

    /// Whether no resource is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Keeps a resource, unless this state of it or a later one is known already. Says whether it was kept.
    pub fn put(&self, key: Key, stored: Stored) -> bool {
        let mut all = self.lock();
        let is_news = all.get(&key).is_none_or(|known| known.uid != stored.uid || known.version < stored.version);
        if is_news {
            all.insert(key, Arc::new(stored));
        }
        is_news
    }

    /// Keeps what the API server answered to a write of the status, so that the next look at the resource does not take
    /// the status before it for the present one: it would be written once more, or a part of it would be left out.
    /// `before` is the state that the status was made from; says whether the resource has to be looked at again, because
    /// more than the status has changed since. One that is gone meanwhile does not come back.
    pub fn written(&self, key: &Key, before: &Stored, answer: Stored) -> bool {
        let differs = before.differs(&answer);
        let mut all = self.lock();
        if let Some(known) = all.get_mut(key).filter(|known| known.uid == answer.uid && known.version < answer.version)
        {
            *known = Arc::new(answer);
        }
        differs
    }

    /// Forgets a resource; nothing happens if it is not known.
    pub fn remove(&self, key: &Key) {
        self.lock().remove(key);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<Key, Arc<Stored>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(version: u64, generation: u64, phase: &str) -> Stored {
        let object = json!({
            "apiVersion": "llamastack.io/v1alpha2",
            "kind": "LlamaStackDistribution",
            "metadata": {
                "name": "a", "namespace": "ns", "uid": "1",
                "resourceVersion": version.to_string(), "generation": generation,
            },
            "spec": {"workload": {"replicas": generation}},
            "status": {"phase": phase},
        });
        Stored::read(&serde_json::from_str(&object.to_string()).unwrap())
    }

    #[test]
    fn what_is_too_much_is_left_out_and_told() {
        let of = |field: &str, value: Value| {
            let mut object = json!({
                "apiVersion": "llamastack.io/v1alpha2", "kind": "LlamaStackDistribution",
                "metadata": {"name": "a", "namespace": "ns", "uid": "1", "resourceVersion": "7"},
                "spec": {"workload": {"replicas": 1}},
            });
            match field {
                "finalizers" => object["metadata"][field] = value,
                _ => object[field] = value,
            }
            Stored::read(&serde_json::from_str(&object.to_string()).unwrap())
        };
        let many = Value::from(vec!["a/b"; JUDGED_VALUES + 1]);
        let mut deep = json!(0);
        for _ in 0..JUDGED_DEPTH + 1 {
            deep = json!([deep]);
        }
        for (field, value, expected) in [
            ("spec", many.clone(), format!("the spec has more than {JUDGED_VALUES} values")),
            ("spec", deep, format!("the spec has values inside of each other deeper than {JUDGED_DEPTH}")),
            ("status", many.clone(), format!("the status has more than {JUDGED_VALUES} values")),
            ("finalizers", many, format!("the metadata has more than {JUDGED_VALUES} values")),
        ] {
            let stored = of(field, value);
            assert_eq!(stored.fault, Some(expected));
            assert_eq!(stored.uid, "1");
            let object = stored.object();
            assert_eq!(object["metadata"]["name"], "a");
            assert!(object.to_string().len() < 1_000);
        }
        let stored = of("spec", json!({"a": 1}));
        assert_eq!(stored.fault, None);
        assert_eq!(stored.object()["spec"], json!({"a": 1}));
        assert_eq!(stored.object()["kind"], "LlamaStackDistribution");
    }

    #[test]
    fn who_wrote_the_configuration_is_read_from_the_managed_fields() {
        let of = |entries: Value| {
            let object = json!({
                "apiVersion": "llamastack.io/v1alpha2", "kind": "LlamaStackDistribution",
                "metadata": {"name": "a", "managedFields": entries},
            });
            Stored::read(&serde_json::from_str(&object.to_string()).unwrap())
        };
        let older = json!({
            "apiVersion": "llamastack.io/v1alpha1", "manager": "kubectl", "operation": "Update", "fieldsType": "FieldsV1",
            "fieldsV1": {"f:spec": {"f:server": {".": {}, "f:userConfig": {".": {}, "f:configMapName": {}}}}},
        });
        let newer = json!({
            "apiVersion": "llamastack.io/v1alpha2", "manager": "kubectl",
            "fieldsV1": {"f:spec": {"f:overrideConfig": {"f:configMapName": {}}}},
        });
        let status = json!({
            "apiVersion": "llamastack.io/v1alpha1", "subresource": "status", "fieldsV1": {"f:status": {}},
        });
        for (entries, written_as, is_older) in [
            (json!([]), ApiVersion::V1Alpha2, false),
            (json!([older]), ApiVersion::V1Alpha1, true),
            (json!([older, newer]), ApiVersion::V1Alpha2, true),
            (json!([status]), ApiVersion::V1Alpha2, false),
        ] {
            let stored = of(entries);
            assert_eq!((stored.written_as, stored.is_older), (written_as, is_older));
            assert_eq!(stored.object()["metadata"], json!({"name": "a"}));
        }
    }

    fn phase(resources: &Resources) -> String {
        resources.get(&Key::new("ns", "a").expect("names")).unwrap().object()["status"]["phase"]
            .as_str()
            .unwrap()
            .to_owned()
    }

    #[test]
    fn the_answer_to_a_write_counts_before_its_event_comes() {
        let (resources, key) = (Resources::default(), Key::new("ns", "a").expect("names"));
        assert!(resources.put(key.clone(), stored(1, 1, "")));
        let before = resources.get(&key).unwrap();
        assert!(!resources.written(&key, &before, stored(2, 1, "Initializing")));
        let second = resources.get(&key).unwrap();
        assert!(!resources.written(&key, &second, stored(3, 1, "Ready")));
        // The events of both writes are no news.
        assert!(!resources.put(key.clone(), stored(2, 1, "Initializing")));
        assert!(!resources.put(key.clone(), stored(3, 1, "Ready")));
        assert_eq!(phase(&resources), "Ready");
    }

    #[test]
    fn a_change_that_only_the_answer_tells_of_is_looked_at() {
        let (resources, key) = (Resources::default(), Key::new("ns", "a").expect("names"));
        resources.put(key.clone(), stored(1, 1, ""));
        let before = resources.get(&key).unwrap();
        // Somebody changed the spec as version 2; its event comes after the answer and is none any more.
        assert!(resources.written(&key, &before, stored(3, 2, "Ready")));
        assert!(!resources.put(key.clone(), stored(2, 2, "")));
        // The other way round the event has had it looked at.
        let before = resources.get(&key).unwrap();
        assert!(resources.put(key.clone(), stored(5, 3, "Ready")));
        assert!(!resources.written(&key, &before, stored(4, 2, "Failed")));
        assert_eq!(phase(&resources), "Ready");
    }

    #[test]
    fn an_answer_does_not_bring_back_what_is_gone() {
        let (resources, key) = (Resources::default(), Key::new("ns", "a").expect("names"));
        resources.put(key.clone(), stored(1, 1, ""));
        let before = resources.get(&key).unwrap();
        resources.remove(&key);
        resources.written(&key, &before, stored(2, 1, "Ready"));
        assert!(resources.get(&key).is_none());
    }
}
