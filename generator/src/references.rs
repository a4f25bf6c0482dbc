//! Which fields name a Secret or ConfigMap, in any object of Kubernetes: one table for everybody who asks. Source:
//! `PodSpec` and `Ingress` in the API reference of Kubernetes, and the two versions of the resource.

use crate::path::{Path, Segment};
use serde_json::Value;
use std::borrow::Cow;

/// The kind of an object that another one names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReferenceKind {
    /// A `Secret` of the API group `v1`.
    Secret,
    /// A `ConfigMap` of the API group `v1`.
    ConfigMap,
}

impl ReferenceKind {
    /// As Kubernetes writes it in `kind`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Secret => "Secret",
            Self::ConfigMap => "ConfigMap",
        }
    }
}

/// Who needs the object that is named, and so what happens without it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NeededBy {
    /// The server, in a field of the resource that the operator turns into something: credentials, certificates, the
    /// config. Without it the operator cannot do what the resource asks for.
    Server,
    /// The pod, through a variable or volume of the user's own. The kubelet starts no container before it is there.
    Pod,
    /// The kubelet, to pull an image. It tries without it.
    ImagePull,
    /// The Ingress. The pods start without it, and some issuers of certificates make it only once the Ingress is there.
    Ingress,
    /// Nobody: it stands among the settings of a provider, which are written into the config as they are.
    Nobody,
}

/// Where an object names a Secret or ConfigMap.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference<'a> {
    /// The kind of the object that is named.
    pub kind: ReferenceKind,
    /// Who does without the object what the field asks for, and so how much its absence weighs.
    pub needed_by: NeededBy,
    /// The name; never empty.
    pub name: &'a str,
    /// The place of the name.
    pub path: Path,
    /// The namespace that is named with it, and its place. Without one it is that of the object which names it.
    pub namespace: Option<(&'a str, Path)>,
    /// The keys that are taken from it, each with its place. If there are none, it is taken whole.
    pub keys: Vec<(&'a str, Path)>,
    /// Whether whoever needs it goes on without it, because the field says so.
    pub is_optional: bool,
}

impl Reference<'_> {
    /// Whether the server cannot start without it.
    #[must_use]
    pub fn is_required(&self) -> bool {
        !self.is_optional && matches!(self.needed_by, NeededBy::Server | NeededBy::Pod)
    }
}

/// A kind of field that holds the name of a Secret or ConfigMap.
#[derive(Debug, PartialEq, Eq)]
pub struct Field {
    /// The last steps on the way to the name, with `[]` for the items of a list. `*` stands for anything a key starts with.
    way: &'static [&'static str],
    /// The kind of the object whose name the field holds.
    pub kind: ReferenceKind,
    needed_by: NeededBy,
    /// The field beside the name that holds the namespace, where there is one.
    pub namespace: &'static str,
    /// Where beside the name the keys stand.
    pub keys: Keys,
}

/// Where the keys stand that are taken from an object: beside its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keys {
    /// The object is taken whole: the field names no key.
    None,
    /// One key, in this field beside the name.
    One(&'static str),
    /// In a field of each item of a list.
    Field {
        /// The field beside the name that holds the list.
        list: &'static str,
        /// The field of each item that holds a key.
        field: &'static str,
    },
    /// The items of a list.
    Items(&'static str),
}

use NeededBy::{ImagePull, Ingress, Pod, Server};
use ReferenceKind::{ConfigMap, Secret};

const ITEMS: Keys = Keys::Field { list: "items", field: "key" };

const fn field(way: &'static [&'static str], kind: ReferenceKind, needed_by: NeededBy, keys: Keys) -> Field {
    Field { way, kind, needed_by, namespace: "", keys }
}

/// The first field that fits counts.
static FIELDS: [Field; 14] = [
    // env: [{valueFrom: {secretKeyRef: {name: a, key: b}}}]
    field(&["valueFrom", "secretKeyRef", "name"], Secret, Pod, Keys::One("key")),
    field(&["valueFrom", "configMapKeyRef", "name"], ConfigMap, Pod, Keys::One("key")),
    // apiKey: {secretKeyRef: {name: a, key: b}}
    field(&["secretKeyRef", "name"], Secret, Server, Keys::One("key")),
    field(&["configMapKeyRef", "name"], ConfigMap, Server, Keys::One("key")),
    // envFrom: [{secretRef: {name: a}}], and volumes: [{cephfs: {secretRef: {name: a}}}]
    Field { namespace: "namespace", ..field(&["secretRef", "name"], Secret, Pod, Keys::None) },
    field(&["configMapRef", "name"], ConfigMap, Pod, Keys::None),
    // volumes: [{csi: {nodePublishSecretRef: {name: a}}}], and what the volumes of a cluster name
    Field { namespace: "namespace", ..field(&["*SecretRef", "name"], Secret, Pod, Keys::None) },
    // volumes: [{configMap: {name: a, items: [{key: b, path: c}]}}], and the same in a projected one
    field(&["volumes", "[]", "configMap", "name"], ConfigMap, Pod, ITEMS),
    field(&["sources", "[]", "configMap", "name"], ConfigMap, Pod, ITEMS),
    field(&["sources", "[]", "secret", "name"], Secret, Pod, ITEMS),
    field(&["imagePullSecrets", "[]", "name"], Secret, ImagePull, Keys::None),
    // overrideConfig: {configMapName: a}, and caBundle: {configMapName: a, configMapNamespace: b, configMapKeys: [c]}
    Field {
        namespace: "configMapNamespace",
        ..field(&["configMapName"], ConfigMap, Server, Keys::Items("configMapKeys"))
    },
    // expose: {tlsSecretName: a}
    field(&["tlsSecretName"], Secret, Ingress, Keys::None),
    // volumes: [{secret: {secretName: a}}], tls: {secretName: a}: see `needed_by`
    field(&["secretName"], Secret, Server, ITEMS),
];

/// The fields that may hold the name of a Secret or ConfigMap: [`field_at`] tells whether one does where it stands. Most
/// fields are none of these, which is told sooner.
pub const NAMES: [&str; 4] = ["name", "secretName", "configMapName", "tlsSecretName"];

/// A step on the way to a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step<'s> {
    /// Into the value of a field, or of a key of a mapping.
    Key(Cow<'s, str>),
    /// An item of a list.
    Item,
}

impl<'s> From<&'s Segment> for Step<'s> {
    fn from(segment: &'s Segment) -> Self {
        match segment {
            Segment::Key(name) => Self::Key(name.into()),
            Segment::Index(_) => Self::Item,
        }
    }
}

impl Step<'_> {
    fn is(&self, pattern: &str) -> bool {
        match (self, pattern.strip_prefix('*')) {
            (Self::Item, _) => pattern == "[]",
            (Self::Key(name), Some(end)) => name.ends_with(end),
            (Self::Key(name), None) => name == pattern,
        }
    }
}

/// What the value is that is reached by these steps, of which the innermost comes first: where it holds the name of a
/// Secret or ConfigMap. Only as many of them are looked at as the longest way has.
pub fn field_at<'s>(outward: impl IntoIterator<Item = Step<'s>>) -> Option<&'static Field> {
    /// Steps of the longest way in [`FIELDS`].
    const LONGEST: usize = 4;
    let steps: Vec<Step<'s>> = outward.into_iter().take(LONGEST).collect();
    let fits = |field: &&Field| {
        field.way.len() <= steps.len() && steps.iter().zip(field.way.iter().rev()).all(|(step, part)| step.is(part))
    };
    FIELDS.iter().find(fits)
}

/// What the value at `path` names, if it is the name of a Secret or ConfigMap.
#[must_use]
pub fn named_at(path: &Path) -> Option<ReferenceKind> {
    Some(field_at(path.segments().iter().rev().map(Step::from))?.kind)
}

/// The object from which the value at `path` takes a key, if it is such a key: its kind, and the place of its name.
#[must_use]
pub fn key_at(path: &Path) -> Option<(ReferenceKind, Path)> {
    let (holder, keys): (&[Segment], _) = match path.segments() {
        [holder @ .., Segment::Key(list), Segment::Index(_), Segment::Key(field)] => {
            (holder, (list.as_str(), field.as_str()))
        }
        [holder @ .., Segment::Key(list), Segment::Index(_)] => (holder, (list.as_str(), "")),
        [holder @ .., Segment::Key(field)] => (holder, ("", field.as_str())),
        _ => return None,
    };
    let holder: Path = holder.iter().cloned().collect();
    NAMES.iter().find_map(|name| {
        let name = holder.key(*name);
        let field = field_at(name.segments().iter().rev().map(Step::from))?;
        let fits = match field.keys {
            Keys::None => false,
            Keys::One(field) => keys == ("", field),
            Keys::Field { list, field } => keys == (list, field),
            Keys::Items(list) => keys == (list, ""),
        };
        fits.then_some((field.kind, name))
    })
}

/// All Secrets and ConfigMaps that the `spec` of an object names, in the order of its fields. Names in templates are among
/// them as they are written.
#[must_use]
pub fn references(object: &Value) -> Vec<Reference<'_>> {
    let mut found = Vec::new();
    if let Some(spec) = object.get("spec") {
        let mut way = vec![At::Key("spec")];
        visit(spec, &mut way, &mut found);
    }
    found
}

/// A step of the way to the value that is looked at, which becomes a [`Path`] only where something is found.
#[derive(Clone, Copy)]
enum At<'a> {
    Key(&'a str),
    Index(usize),
}

fn visit<'a>(value: &'a Value, way: &mut Vec<At<'a>>, found: &mut Vec<Reference<'a>>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                way.push(At::Key(key));
                match value {
                    Value::String(name) if NAMES.contains(&key.as_str()) && !name.is_empty() => {
                        found.extend(read(name, fields, way))
                    }
                    value => visit(value, way, found),
                }
                way.pop();
            }
        }
        Value::Array(items) => {
            for (number, item) in items.iter().enumerate() {
                way.push(At::Index(number));
                visit(item, way, found);
                way.pop();
            }
        }
        _ => {}
    }
}

/// The reference whose name is the last step of `way`, if it is one; `holder` has the name and what stands beside it.
fn read<'a>(name: &'a str, holder: &'a serde_json::Map<String, Value>, way: &[At<'a>]) -> Option<Reference<'a>> {
    let step = |at: &At<'a>| match at {
        At::Key(key) => Step::Key(Cow::Borrowed(*key)),
        At::Index(_) => Step::Item,
    };
    let field = field_at(way.iter().rev().map(step))?;
    let path: Path = way
        .iter()
        .map(|at| match at {
            At::Key(key) => Segment::Key((*key).to_owned()),
            At::Index(number) => Segment::Index(*number),
        })
        .collect();
    let beside = path.parent()?;
    let namespace = holder.get(field.namespace).and_then(Value::as_str).filter(|namespace| !namespace.is_empty());
    Some(Reference {
        kind: field.kind,
        needed_by: needed_by(field, way),
        name,
        namespace: namespace.map(|namespace| (namespace, beside.key(field.namespace))),
        keys: keys(field.keys, holder, &beside),
        is_optional: holder.get("optional").and_then(Value::as_bool) == Some(true),
        path,
    })
}

fn needed_by(field: &Field, way: &[At<'_>]) -> NeededBy {
    let key = |at: &At<'_>, name: &str| matches!(at, At::Key(key) if *key == name);
    let has = |name: &str| way.iter().any(|at| key(at, name));
    match way {
        [_, providers, ..] if key(providers, "providers") && has("settings") => NeededBy::Nobody,
        _ if field.needed_by == Server && has("volumes") => Pod,
        _ => field.needed_by,
    }
}

fn keys<'a>(keys: Keys, holder: &'a serde_json::Map<String, Value>, beside: &Path) -> Vec<(&'a str, Path)> {
    let items = |list: &str| {
        let path = beside.key(list);
        let items = holder.get(list).and_then(Value::as_array).into_iter().flatten().enumerate();
        items.map(move |(number, item)| (item, path.index(number)))
    };
    match keys {
        Keys::None => Vec::new(),
        Keys::One(field) => {
            holder.get(field).and_then(Value::as_str).map(|key| (key, beside.key(field))).into_iter().collect()
        }
        Keys::Field { list, field } => {
            let key = |(item, path): (&'a Value, Path)| Some((item.get(field)?.as_str()?, path.key(field)));
            items(list).filter_map(key).collect()
        }
        Keys::Items(list) => items(list).filter_map(|(item, path)| Some((item.as_str()?, path))).collect(),
    }
}

#[cfg(test)]
mod tests;
