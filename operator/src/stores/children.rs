//! The children of all resources: who owns them, and whether they are still as the operator left them.
//!
//! Of a child nothing is kept but a few numbers. What we applied is told by an annotation of ours; whether somebody
//! has changed one of our fields since is told by `managedFields`: who changes a field takes it over, so that our set
//! of fields is another one then. Values are never compared, because the API server writes some in its own way.

use super::tombstones::Tombstones;
use super::{controller, is_main, version};
use crate::resources::config::{GENERATED, GENERATED_LABEL};
use crate::resources::{COMPONENT, INSTANCE, Kind, MANAGED_BY};
use crate::served::Served;
use crate::steps::adopt;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry;
use kube::core::ObjectMeta;
use llsd_generator::names::{Namespace, ObjectName};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

/// The annotation with the digest of what was applied.
pub const APPLIED: &str = "llamastack.io/applied";
/// The Go operator's field manager of objects that it created.
const GO_CREATED: &str = "manager";

/// Plural of the kind, namespace, name.
pub type ChildKey = (&'static str, Namespace, ObjectName);

/// How an object that another resource had came to a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adopted {
    /// The name of the resource that has taken it over.
    pub by: Box<str>,
    /// Whether the adoption is complete: until then the pods wait for their volume.
    pub done: bool,
}

impl Adopted {
    /// Reads it from the labels and annotations that an adoption leaves.
    #[must_use]
    pub fn of(metadata: &ObjectMeta) -> Option<Self> {
        let labels = metadata.labels.as_ref().filter(|labels| labels.contains_key(adopt::FROM))?;
        let done = metadata.annotations.as_ref().is_some_and(|all| all.contains_key(adopt::AT));
        Some(Self { by: labels.get(INSTANCE)?.as_str().into(), done })
    }
}

/// What is known of one child.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChildRecord {
    /// `metadata.uid`: another object may get the name later, with another UID.
    pub uid: Box<str>,
    /// `metadata.resourceVersion` as a number, so that older news can be told from newer.
    pub version: u128,
    /// UID of the object that controls it.
    pub owner: Option<Box<str>>,
    /// Name of the resource that controls it.
    pub owner_name: Option<Box<str>>,
    /// Whether it has the operator's label.
    pub labelled: bool,
    /// The digest of what was applied, by its annotation.
    pub applied: Option<u64>,
    /// Digest of the set of fields that are ours, the replica count left out.
    pub fields: u64,
    /// Whether the replica count of a Deployment is ours.
    pub replicas: bool,
    /// That set as JSON, until it has been looked at once.
    pub pending: Option<Box<str>>,
    /// Whether fields are ours by another entry than that of server-side apply: the Go operator's, or from a creation.
    pub legacy: bool,
    /// Seconds since 1970 of its creation.
    pub created: i64,
    /// Whether it is on its way out.
    pub deleting: bool,
    /// What it was taken over from, if it was.
    pub adoption: Option<Adopted>,
    /// The value of the label `app.kubernetes.io/component`; [`GENERATED`] for what has [`GENERATED_LABEL`].
    pub component: Option<Box<str>>,
}

impl ChildRecord {
    /// Reads the metadata of a child of a resource of the kind `served`.
    #[must_use]
    pub fn read(metadata: &ObjectMeta, served: &Served) -> Self {
        let labels = metadata.labels.as_ref();
        let label = |key: &str| labels.and_then(|labels| labels.get(key));
        // The Go operator applied with the name of the resource as its manager.
        let owner_name = metadata
            .owner_references
            .iter()
            .flatten()
            .find(|owner| owner.controller == Some(true))
            .map(|owner| owner.name.as_str());
        let entries = metadata.managed_fields.as_deref().unwrap_or_default();
        let ours: Vec<_> =
            entries.iter().filter(|entry| is_main(entry) && is_ours(entry, owner_name, served)).collect();
        let mut fields = union(ours.iter().filter_map(|entry| Some(&entry.fields_v1.as_ref()?.0)));
        let text = fields.to_string();
        // An autoscaler takes it over, which is no change of what the operator wants.
        let spec = fields.get_mut("f:spec").and_then(Value::as_object_mut);
        let replicas = spec.is_some_and(|spec| spec.shift_remove("f:replicas").is_some());
        Self {
            uid: metadata.uid.as_deref().unwrap_or_default().into(),
            version: version(metadata),
            owner: controller(metadata).map(Into::into),
            owner_name: owner_name.map(Into::into),
            labelled: label(MANAGED_BY).map(String::as_str) == Some(served.manager),
            applied: metadata.annotations.as_ref().and_then(|all| u64::from_str_radix(all.get(APPLIED)?, 16).ok()),
            fields: digest(&fields),
            replicas,
            // Nobody asks for those of an object that no resource controls.
            pending: owner_name.is_some().then(|| text.into()),
            legacy: ours.iter().any(|entry| !is_apply(entry, served)),
            created: metadata.creation_timestamp.as_ref().map(|time| time.0.as_second()).unwrap_or_default(),
            deleting: metadata.deletion_timestamp.is_some(),
            adoption: Adopted::of(metadata),
            component: match label(GENERATED_LABEL) {
                Some(_) => Some(GENERATED.into()),
                None => label(COMPONENT).map(|value| value.as_str().into()),
            },
        }
    }
}

/// Whether an entry is of this operator, whichever way, or of the Go operator.
pub fn is_ours(entry: &ManagedFieldsEntry, resource: Option<&str>, served: &Served) -> bool {
    let manager = entry.manager.as_deref().unwrap_or_default();
    match entry.operation.as_deref() {
        Some("Update") => manager == served.manager || manager == GO_CREATED,
        _ => manager == served.manager || Some(manager) == resource,
    }
}

/// Whether an entry is that of this operator's server-side apply.
pub fn is_apply(entry: &ManagedFieldsEntry, served: &Served) -> bool {
    entry.operation.as_deref() == Some("Apply") && entry.manager.as_deref() == Some(served.manager)
}

/// The fields of any of the given sets, in the form of `fieldsV1`.
pub fn union<'v>(sets: impl Iterator<Item = &'v Value>) -> Value {
    fn add(into: &mut BTreeMap<String, Value>, set: &Value) {
        for (key, below) in set.as_object().into_iter().flatten() {
            let known = into.entry(key.clone()).or_insert_with(|| Value::Object(serde_json::Map::new()));
            let mut inner: BTreeMap<String, Value> =
                known.as_object_mut().map(std::mem::take).unwrap_or_default().into_iter().collect();
            add(&mut inner, below);
            *known = Value::Object(inner.into_iter().collect());
        }
    }
    let mut all = BTreeMap::new();
    sets.for_each(|set| add(&mut all, set));
    Value::Object(all.into_iter().collect())
}

/// Whether all fields of `desired` are among ours: who changes one of them takes it over.
#[must_use]
pub fn covers(fields: &Value, desired: &Value) -> bool {
    let parts = desired.as_object().into_iter().flatten();
    parts.filter(|(key, _)| !matches!(key.as_str(), "apiVersion" | "kind")).all(|(key, value)| {
        let below = &fields[format!("f:{key}")];
        if key == "metadata" {
            // Nobody owns name and namespace.
            let parts = value.as_object().into_iter().flatten();
            return parts
                .filter(|(key, _)| !matches!(key.as_str(), "name" | "namespace"))
                .all(|(key, value)| is_empty(value) || owns(&below[format!("f:{key}")], value));
        }
        is_empty(value) || owns(below, value)
    })
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Object(map) => map.is_empty(),
        Value::Array(items) => items.is_empty(),
        other => other.is_null(),
    }
}

// As deep as what the builders make.
fn owns(fields: &Value, desired: &Value) -> bool {
    // Owned as a whole, such as a selector.
    if fields.as_object().is_some_and(serde_json::Map::is_empty) {
        return true;
    }
    match desired {
        _ if fields.is_null() => false,
        Value::Object(map) => {
            map.iter().all(|(key, value)| is_empty(value) || owns(&fields[format!("f:{key}")], value))
        }
        Value::Array(items) => {
            let Some(entries) = fields.as_object() else { return false };
            // A list that is owned as a whole has no entries of its own.
            let keyed: Vec<_> = entries.keys().filter(|key| key.starts_with("k:") || key.starts_with("v:")).collect();
            keyed.is_empty()
                || items
                    .iter()
                    .all(|item| keyed.iter().any(|key| is_item(key, item) && owns(&fields[key.as_str()], item)))
        }
        _ => true,
    }
}

/// Whether a key of `fieldsV1` such as `k:{"name":"x"}` or `v:"x"` means this item.
fn is_item(key: &str, item: &Value) -> bool {
    let Some((form, text)) = key.split_once(':') else { return false };
    let Ok(wanted) = serde_json::from_str::<Value>(text) else { return false };
    match (form, &wanted) {
        ("v", wanted) => wanted == item,
        // A key that the item leaves out has its default, such as the protocol of a port.
        (_, Value::Object(keys)) => keys.iter().all(|(key, value)| item.get(key).is_none_or(|own| own == value)),
        _ => false,
    }
}

/// A digest of a value's JSON.
#[must_use]
pub fn digest(value: &Value) -> u64 {
    digest_bytes(value.to_string().as_bytes())
}

fn digest_bytes(bytes: &[u8]) -> u64 {
    let digest = Sha256::digest(bytes);
    digest.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
}

#[derive(Debug, Default)]
struct Inner {
    records: HashMap<ChildKey, ChildRecord>,
    by_owner: HashMap<Box<str>, HashSet<ChildKey>>,
    /// What our fields were right after the last apply or comparison of the child with this UID.
    in_sync: HashMap<Box<str>, InSync>,
    gone: Tombstones<ChildKey>,
}

/// A state of a child that was found to be right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct InSync {
    applied: u64,
    fields: u64,
    replicas: bool,
}

impl InSync {
    fn of(record: &ChildRecord, applied: u64) -> Self {
        Self { applied, fields: record.fields, replicas: record.replicas }
    }
}

/// What is known of all children, by [`ChildKey`] and by owner.
#[derive(Debug, Default)]
pub struct Children {
    inner: Mutex<Inner>,
}

impl Children {
    /// Keeps what is known of a child, unless something later is known. Says whether anything of interest changed.
    pub fn put(&self, place: ChildKey, record: ChildRecord) -> bool {
        let mut inner = self.lock();
        let known = inner.records.get(&place);
        if known.is_some_and(|known| known.uid == record.uid && known.version >= record.version) {
            return false;
        }
        if known.is_none() && inner.gone.is_stale(&place, record.version) {
            inner.in_sync.remove(&record.uid);
            return false;
        }
        let known = inner.records.get(&place);
        let old_owner = known.and_then(|known| known.owner.clone());
        let in_sync = inner.in_sync.get(&record.uid);
        let is_in_sync = in_sync.is_some_and(|in_sync| {
            record.applied == Some(in_sync.applied) && *in_sync == InSync::of(&record, in_sync.applied)
        });
        let mut record = record;
        if is_in_sync {
            record.pending = None;
        }
        let changed = !is_in_sync || old_owner != record.owner || record.deleting;
        if old_owner != record.owner {
            if let Some(owner) = &old_owner {
                remove_owned(&mut inner, owner, &place);
            }
            if let Some(owner) = record.owner.clone() {
                inner.by_owner.entry(owner).or_default().insert(place.clone());
            }
        }
        inner.records.insert(place, record);
        changed
    }

    /// The watch saw a child go, as this version: states of it from before that are not kept any more.
    pub fn gone(&self, place: ChildKey, uid: Option<&str>, version: u128) {
        self.remove(&place, uid);
        self.lock().gone.note(place, version);
    }

    /// Whether this state of a child or a later one is known. The answers to the operator's own writes are, before their
    /// events come: those need no closer look, which costs more than all else about an event.
    #[must_use]
    pub fn knows(&self, place: &ChildKey, metadata: &ObjectMeta) -> bool {
        self.lock()
            .records
            .get(place)
            .is_some_and(|known| Some(&*known.uid) == metadata.uid.as_deref() && known.version >= version(metadata))
    }

    /// Forgets a child, if it is the one with this UID. Returns the name of the resource that controlled it.
    pub fn remove(&self, place: &ChildKey, uid: Option<&str>) -> Option<Box<str>> {
        let mut inner = self.lock();
        let known = inner.records.get(place).filter(|known| uid.is_none_or(|uid| &*known.uid == uid))?;
        let (uid, owner, name) = (known.uid.clone(), known.owner.clone(), known.owner_name.clone());
        inner.records.remove(place);
        inner.in_sync.remove(&uid);
        if let Some(owner) = &owner {
            remove_owned(&mut inner, owner, place);
        }
        name
    }

    /// What is known of a child.
    #[must_use]
    pub fn get(&self, kind: Kind, namespace: &Namespace, name: &str) -> Option<ChildRecord> {
        self.lock().records.get(&(kind.plural(), namespace.clone(), ObjectName::parse(name).ok()?)).cloned()
    }

    /// The object of a kind that a resource has taken over, and that has no owner.
    #[must_use]
    pub fn adopted(&self, kind: Kind, namespace: &Namespace, by: &str) -> Option<String> {
        let inner = self.lock();
        let mut found = inner.records.iter().filter(|((plural, place, _), record)| {
            *plural == kind.plural()
                && place == namespace
                && record.owner.is_none()
                && record.adoption.as_ref().is_some_and(|adoption| adoption.done && *adoption.by == *by)
        });
        found.next().map(|((_, _, name), _)| name.to_string())
    }

    /// The children that a resource controls.
    #[must_use]
    pub fn of(&self, owner: &str) -> Vec<(ChildKey, ChildRecord)> {
        let inner = self.lock();
        let places = inner.by_owner.get(owner).into_iter().flatten();
        let mut found: Vec<_> =
            places.filter_map(|place| Some((place.clone(), inner.records.get(place)?.clone()))).collect();
        found.sort_by(|(one, _), (other, _)| one.cmp(other));
        found
    }

    /// Every place of a kind, for a fresh list to be compared with.
    #[must_use]
    pub fn places(&self, plural: &str, namespace: Option<&str>) -> HashSet<ChildKey> {
        let inner = self.lock();
        let here = |place: &&ChildKey| place.0 == plural && namespace.is_none_or(|namespace| &*place.1 == namespace);
        inner.records.keys().filter(here).cloned().collect()
    }

    /// Whether the child is as it was left, with what has this digest applied. After a start this has to be found out
    /// from the fields that are ours: `desired` is what was applied then.
    #[must_use]
    pub fn is_in_sync(&self, place: &ChildKey, record: &ChildRecord, applied: u64, desired: &Value) -> bool {
        let mut inner = self.lock();
        if let Some(in_sync) = inner.in_sync.get(&record.uid) {
            let fields = in_sync.applied == applied && in_sync.fields == record.fields;
            let replicas = in_sync.replicas == record.replicas || desired["spec"]["replicas"].is_null();
            return fields && replicas && record.applied == Some(applied);
        }
        let Some(pending) = &record.pending else { return false };
        let fields: Value = serde_json::from_str(pending).unwrap_or_default();
        let right = record.applied == Some(applied) && covers(&fields, desired);
        if right {
            inner.in_sync.insert(record.uid.clone(), InSync::of(record, applied));
            if let Some(kept) = inner.records.get_mut(place) {
                kept.pending = None;
            }
        }
        right
    }

    /// The child has just been written, and this is what the API server made of it.
    pub fn settle(&self, place: ChildKey, record: ChildRecord, applied: u64) {
        let in_sync = InSync::of(&record, applied);
        self.lock().in_sync.insert(record.uid.clone(), in_sync);
        self.put(place, record);
    }

    /// Number of children that are known, over all resources.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().records.len()
    }

    /// Whether no child is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn remove_owned(inner: &mut Inner, owner: &str, place: &ChildKey) {
    if let Some(places) = inner.by_owner.get_mut(owner) {
        places.remove(place);
        if places.is_empty() {
            inner.by_owner.remove(owner);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn our_fields_cover_what_was_applied() {
        let desired = json!({
            "apiVersion": "v1", "kind": "Service", "metadata": {"name": "a", "namespace": "b", "labels": {"x/y": "z"}},
            "spec": {"ports": [{"port": 80, "name": "http"}], "selector": {"app": "a"}, "emptyDir": {}},
        });
        let owned = json!({
            "f:metadata": {"f:labels": {"f:x/y": {}}},
            "f:spec": {"f:ports": {"k:{\"port\":80,\"protocol\":\"TCP\"}": {".": {}, "f:port": {}}}, "f:selector": {}},
        });
        assert!(!covers(&owned, &desired), "the port's name is another's");
        let owned = json!({
            "f:metadata": {"f:labels": {"f:x/y": {}}},
            "f:spec": {"f:ports": {"k:{\"port\":80,\"protocol\":\"TCP\"}": {".": {}, "f:port": {}, "f:name": {}}}, "f:selector": {"f:app": {}}},
        });
        assert!(covers(&owned, &desired));
    }

    #[test]
    fn sets_of_fields_are_joined() {
        let one = json!({"f:spec": {"f:a": {}, "f:b": {"f:c": {}}}});
        let other = json!({"f:spec": {"f:b": {"f:d": {}}}});
        assert_eq!(union([&one, &other].into_iter()), json!({"f:spec": {"f:a": {}, "f:b": {"f:c": {}, "f:d": {}}}}));
    }

    #[test]
    fn a_later_state_is_not_overwritten_by_an_earlier_one() {
        let children = Children::default();
        let place = || ("services", Namespace::parse("ns").expect("a name"), ObjectName::parse("a").expect("a name"));
        let record = |version| ChildRecord {
            uid: "1".into(),
            version,
            owner: Some("o".into()),
            owner_name: Some("cr".into()),
            ..ChildRecord::default()
        };
        children.put(place(), record(5));
        assert!(!children.put(place(), record(4)));
        assert_eq!(children.of("o")[0].1.version, 5);
        assert_eq!(children.remove(&place(), Some("other")), None);
        assert_eq!(children.remove(&place(), Some("1")).as_deref(), Some("cr"));
        assert!(children.of("o").is_empty());
    }

    #[test]
    fn an_answer_that_comes_after_the_end_does_not_count() {
        let children = Children::default();
        let place = || ("services", Namespace::parse("ns").expect("a name"), ObjectName::parse("a").expect("a name"));
        let record = |uid: &str, version| ChildRecord {
            uid: uid.into(),
            version,
            owner: Some("o".into()),
            applied: Some(7),
            ..ChildRecord::default()
        };
        children.put(place(), record("1", 5));
        // Written as version 6 and deleted as version 7; the answer is handled last.
        children.gone(place(), Some("1"), 7);
        children.settle(place(), record("1", 6), 7);
        assert!(children.is_empty() && children.of("o").is_empty());
        // It is made again.
        children.settle(place(), record("2", 9), 7);
        assert!(children.is_in_sync(&place(), &record("2", 9), 7, &json!({})));
        assert_eq!(children.len(), 1);
        // One that loses the label goes for the watch, and is still there.
        children.gone(place(), Some("2"), 10);
        children.put(place(), record("2", 10));
        assert_eq!(children.len(), 1);
    }
}
