//! The LlamaStackDistribution resources, each as the compact text of its JSON: a tree of values takes ten times as much.

use crate::queue::Key;
use crate::resources::written_as;
use kube::core::DynamicObject;
use llsd_generator::api::ApiVersion;
use serde_json::Value;
use std::collections::HashMap;
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
    json: Box<[u8]>,
}

impl Stored {
    /// Reads what the API server sent. Managed fields are looked at once and dropped.
    #[must_use]
    pub fn read(mut object: DynamicObject) -> Self {
        let fields = object.metadata.managed_fields.take().unwrap_or_default();
        let fields: Vec<Value> = fields.iter().filter_map(|entry| serde_json::to_value(entry).ok()).collect();
        Self {
            uid: object.metadata.uid.clone().unwrap_or_default(),
            version: super::version(&object.metadata),
            written_as: written_as(&fields),
            is_older: fields.iter().any(|entry| {
                entry["apiVersion"] == ApiVersion::V1Alpha1.api_version()
                    && entry["subresource"].as_str().is_none_or(str::is_empty)
            }),
            deleting: object.metadata.deletion_timestamp.is_some(),
            json: serde_json::to_vec(&object).unwrap_or_default().into_boxed_slice(),
        }
    }

    /// Whether two states differ in more than their status: in what somebody else than the operator writes.
    #[must_use]
    pub fn differs(&self, other: &Self) -> bool {
        let wanted = |stored: &Self| {
            let mut object = stored.object();
            object["status"] = Value::Null;
            object["metadata"]["resourceVersion"] = Value::Null;
            object
        };
        self.json != other.json && wanted(self) != wanted(other)
    }

    /// Parses the whole object out of its compact form.
    #[must_use]
    pub fn object(&self) -> Value {
        serde_json::from_slice(&self.json).unwrap_or_default()
    }
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
    use serde_json::json;

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
        Stored::read(serde_json::from_value(object).unwrap())
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
