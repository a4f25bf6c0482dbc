//! Secrets and ConfigMaps of users that resources refer to. Of the many in a cluster only those are read, once for each
//! change: a watch of metadata tells of changes, and nothing is kept of the others.

use crate::api::{self, Api, CONFIG_MAPS, GroupVersionResource, SECRETS};
use crate::queue::Key;
use crate::resources::{WATCH, content_digest};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use llsd_generator::config::reading::Reading;
use llsd_generator::names::{Namespace, ObjectName};
use llsd_generator::ogx::WATCH_LABEL;
use llsd_generator::references::ReferenceKind;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Which object: its kind, namespace and name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reference {
    /// Whether it is a Secret or a ConfigMap.
    pub kind: ReferenceKind,
    /// `metadata.namespace` of the object.
    pub namespace: Namespace,
    /// `metadata.name` of the object.
    pub name: ObjectName,
}

/// The data of a Secret or ConfigMap as it was read last.
#[derive(PartialEq, Eq)]
pub struct Content {
    /// `metadata.uid` of the object.
    pub uid: String,
    /// Its resource version, as the API server writes it.
    pub resource_version: String,
    /// Its entries. Those of Secrets are secret: this type's `Debug` does not show them.
    pub data: BTreeMap<String, Vec<u8>>,
    /// Digest of the entries; for a Secret keyed with its UID.
    pub digest: String,
    /// Whether its label [`WATCH`] lets resources of other namespaces use it.
    pub is_shared: bool,
    /// Whether its label [`WATCH_LABEL`] shows it to ogx-k8s-operator.
    pub is_watched: bool,
}

impl fmt::Debug for Content {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys: Vec<_> = self.data.keys().collect();
        write!(out, "Content({}, keys {keys:?})", self.resource_version)
    }
}

impl Content {
    /// What the server reads the entries as, where that is no text.
    #[must_use]
    pub fn readings(&self) -> BTreeMap<String, Reading> {
        let read = |bytes: &[u8]| Reading::of(std::str::from_utf8(bytes).ok()?);
        self.data.iter().filter_map(|(key, bytes)| Some((key.clone(), read(bytes)?))).collect()
    }

    fn read(kind: ReferenceKind, object: &Value) -> Self {
        let text = |field: &str| object["metadata"][field].as_str().unwrap_or_default().to_owned();
        let mut data = BTreeMap::new();
        let decode = |value: &Value| STANDARD.decode(value.as_str().unwrap_or_default()).unwrap_or_default();
        for (key, value) in object["data"].as_object().into_iter().flatten() {
            let bytes = match kind {
                ReferenceKind::Secret => decode(value),
                ReferenceKind::ConfigMap => value.as_str().unwrap_or_default().as_bytes().to_vec(),
            };
            data.insert(key.clone(), bytes);
        }
        for (key, value) in object["binaryData"].as_object().into_iter().flatten() {
            data.insert(key.clone(), decode(value));
        }
        let uid = text("uid");
        let entries = data.iter().map(|(key, value)| (key.as_str(), value.as_slice()));
        let digest = match kind {
            ReferenceKind::ConfigMap => content_digest(entries),
            ReferenceKind::Secret => content_digest(entries.chain([("", uid.as_bytes())])),
        };
        let labels = &object["metadata"]["labels"];
        let (is_shared, is_watched) = (labels[WATCH.0] == WATCH.1, labels[WATCH_LABEL] == "true");
        Self { uid, resource_version: text("resourceVersion"), data, digest, is_shared, is_watched }
    }

    /// The entries that are text, as ConfigMaps have them.
    #[must_use]
    pub fn texts(&self) -> BTreeMap<String, String> {
        self.data
            .iter()
            .filter_map(|(key, value)| Some((key.clone(), String::from_utf8(value.clone()).ok()?)))
            .collect()
    }
}

#[derive(Default)]
struct Entry {
    /// `None` until it has been read.
    content: Option<Option<Arc<Content>>>,
    /// How often the watch had news: what was read before the last news is not kept.
    news: u64,
    users: HashSet<Key>,
}

#[derive(Default)]
struct Inner {
    entries: HashMap<Reference, Entry>,
    by_user: HashMap<Key, BTreeSet<Reference>>,
}

/// The objects that resources refer to.
#[derive(Default)]
pub struct References {
    inner: Mutex<Inner>,
}

impl fmt::Debug for References {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "References({})", self.lock().entries.len())
    }
}

impl References {
    /// Says what a resource refers to from now on; what nobody refers to any more is forgotten.
    pub fn set(&self, user: &Key, references: BTreeSet<Reference>) {
        let mut inner = self.lock();
        let old = inner.by_user.get(user).cloned().unwrap_or_default();
        if old == references {
            return;
        }
        for gone in old.difference(&references) {
            if let Some(entry) = inner.entries.get_mut(gone) {
                entry.users.remove(user);
                if entry.users.is_empty() {
                    inner.entries.remove(gone);
                }
            }
        }
        for new in references.difference(&old) {
            inner.entries.entry(new.clone()).or_default().users.insert(user.clone());
        }
        if references.is_empty() {
            inner.by_user.remove(user);
        } else {
            inner.by_user.insert(user.clone(), references);
        }
    }

    /// The object, read if it is not known; `None` if there is none.
    ///
    /// # Errors
    /// What the API server says.
    pub async fn get(&self, api: &Api, reference: &Reference) -> api::Result<Option<Arc<Content>>> {
        let news = match self.lock().entries.get(reference) {
            Some(Entry { content: Some(known), .. }) => return Ok(known.clone()),
            entry => entry.map(|entry| entry.news),
        };
        let content = Self::read(api, reference).await?;
        if let Some(entry) = self.lock().entries.get_mut(reference).filter(|entry| Some(entry.news) == news) {
            entry.content = Some(content.clone());
        }
        Ok(content)
    }

    /// The object, read anew: what lies in another namespace may not be watched.
    ///
    /// # Errors
    /// What the API server says.
    pub async fn read(api: &Api, reference: &Reference) -> api::Result<Option<Arc<Content>>> {
        let found = api.get(resource(reference.kind), Some(&reference.namespace), &reference.name).await?;
        Ok(found.map(|object| Arc::new(Content::read(reference.kind, &object))))
    }

    /// The watch saw the object in this version, or its end. Returns the resources that refer to it, if that is news.
    pub fn seen(&self, reference: &Reference, resource_version: Option<&str>) -> Vec<Key> {
        let mut inner = self.lock();
        let Some(entry) = inner.entries.get_mut(reference) else { return Vec::new() };
        let is_known = match &entry.content {
            None => false,
            Some(content) => content.as_ref().map(|content| content.resource_version.as_str()) == resource_version,
        };
        if is_known {
            return Vec::new();
        }
        entry.content = None;
        entry.news += 1;
        entry.users.iter().cloned().collect()
    }

    /// The objects of a kind that somebody refers to, for a fresh list to be compared with.
    #[must_use]
    pub fn all(&self, kind: ReferenceKind, namespace: Option<&str>) -> HashSet<Reference> {
        let inner = self.lock();
        let here =
            |one: &&Reference| one.kind == kind && namespace.is_none_or(|namespace| &*one.namespace == namespace);
        inner.entries.keys().filter(here).cloned().collect()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn resource(kind: ReferenceKind) -> GroupVersionResource {
    match kind {
        ReferenceKind::Secret => SECRETS,
        ReferenceKind::ConfigMap => CONFIG_MAPS,
    }
}
