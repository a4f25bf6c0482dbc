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
    /// Its UID.
    pub uid: String,
    /// Its resource version.
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

    /// The whole object.
    #[must_use]
    pub fn object(&self) -> Value {
        serde_json::from_slice(&self.json).unwrap_or_default()
    }
}

/// All resources.
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

    /// The keys of all.
    #[must_use]
    pub fn keys(&self) -> Vec<Key> {
        self.lock().keys().cloned().collect()
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Keeps a resource, unless a later state of it is known already.
    pub fn put(&self, key: Key, stored: Stored) {
        let mut all = self.lock();
        if all.get(&key).is_none_or(|known| known.uid != stored.uid || known.version <= stored.version) {
            all.insert(key, Arc::new(stored));
        }
    }

    /// Forgets a resource.
    pub fn remove(&self, key: &Key) {
        self.lock().remove(key);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<Key, Arc<Stored>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
