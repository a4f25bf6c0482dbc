//! The names in other Kubernetes objects: what Secrets and ConfigMaps declare, and what any object refers to.

use super::reader::Reader;
use super::{DocumentNames, Form, Occurrence, Role, Symbol};
use crate::ide::objects::ObjectKey;
use llsd_yaml::{Node, Span};

/// Notes the names of the object at `root`.
pub(super) fn read<'d>(reader: &Reader<'d>, root: Node<'d>, names: &mut DocumentNames) {
    let namespace = reader.text(root, &["metadata", "namespace"]).into_owned();
    let own = (namespace, reader.text(root, &["metadata", "name"]).into_owned());
    let core = reader.text(root, &["apiVersion"]) == "v1";
    match &*reader.text(root, &["kind"]) {
        "Secret" if core => {
            let key_of = own.clone();
            declare(reader, root, Symbol::Secret, &["data", "stringData"], names, |key| {
                Symbol::SecretKey(key_of.clone(), key)
            });
        }
        "ConfigMap" if core => {
            let key_of = own.clone();
            declare(reader, root, Symbol::ConfigMap, &["data", "binaryData"], names, |key| {
                Symbol::ConfigMapKey(key_of.clone(), key)
            });
        }
        _ => references(reader, root, &own.0, &mut names.occurrences),
    }
}

fn declare<'d>(
    reader: &Reader<'d>,
    root: Node<'d>,
    object: fn(ObjectKey) -> Symbol,
    maps: &[&str],
    names: &mut DocumentNames,
    key: impl Fn(String) -> Symbol,
) {
    let namespace = reader.text(root, &["metadata", "namespace"]).into_owned();
    let Some(name) = reader.at(root, &["metadata", "name"]) else { return };
    let out = &mut names.occurrences;
    reader.note(name, None, Role::Declaration, |name| object((namespace, name)), out);
    for map in maps.iter().filter_map(|field| reader.get(root, field)) {
        for entry in reader.entries(map) {
            reader.note(entry.key, None, Role::Declaration, &key, out);
        }
    }
}

/// The objects that a kustomization generates, and their keys.
pub(super) fn generated<'d>(reader: &Reader<'d>, root: Node<'d>, out: &mut Vec<Occurrence>) {
    for (field, sort) in [("configMapGenerator", Sort::ConfigMap), ("secretGenerator", Sort::Secret)] {
        for one in reader.get(root, field).map(|list| reader.items(list)).unwrap_or_default() {
            let object = (reader.text(one, &["namespace"]).into_owned(), reader.text(one, &["name"]).into_owned());
            let named = |name| sort.object((object.0.clone(), name));
            reader.note_field(one, "name", None, Role::Declaration, named, out);
            for list in ["files", "literals"] {
                for entry in reader.get(one, list).map(|list| reader.items(list)).unwrap_or_default() {
                    generated_key(entry, list == "files", |key| sort.key(object.clone(), key), out);
                }
            }
        }
    }
}

/// The key of `key=value`, or the last part of a path that is no such pair.
fn generated_key(entry: Node<'_>, is_file: bool, symbol: impl Fn(String) -> Symbol, out: &mut Vec<Occurrence>) {
    let (source, start) = (entry.source(), entry.span().start);
    let head = source.len() - source.trim_start_matches(['"', '\'']).len();
    let text = source.trim_matches(['"', '\'']);
    let (at, key) = match (text.split_once('='), is_file) {
        (Some((key, _)), _) => (0, key),
        (None, true) => text.rfind('/').map_or((0, text), |slash| (slash + 1, &text[slash + 1..])),
        (None, false) => return,
    };
    if entry.is_scalar() && entry.block().is_none() && !key.is_empty() && !key.contains(['{', '$', '<', '\n']) {
        let from = start + head + at;
        let span = Span::new(from, from + key.len());
        out.push(Occurrence {
            symbol: symbol(key.to_owned()),
            scope: None,
            span,
            role: Role::Declaration,
            form: Form::Part,
        });
    }
}

/// Notes every reference to a Secret or ConfigMap at or below `root`, whatever kind of object it is.
pub(super) fn references<'d>(reader: &Reader<'d>, root: Node<'d>, namespace: &str, out: &mut Vec<Occurrence>) {
    let mut open = vec![root];
    while let Some(node) = open.pop() {
        for entry in node.entries() {
            field(reader, node, entry, namespace, out);
        }
        open.extend(node.children());
    }
}

#[derive(Clone, Copy)]
enum Sort {
    Secret,
    ConfigMap,
}

impl Sort {
    fn object(self, key: ObjectKey) -> Symbol {
        match self {
            Self::Secret => Symbol::Secret(key),
            Self::ConfigMap => Symbol::ConfigMap(key),
        }
    }

    fn key(self, object: ObjectKey, key: String) -> Symbol {
        match self {
            Self::Secret => Symbol::SecretKey(object, key),
            Self::ConfigMap => Symbol::ConfigMapKey(object, key),
        }
    }
}

fn field<'d>(
    reader: &Reader<'d>,
    holder: Node<'d>,
    entry: llsd_yaml::Entry<'d>,
    namespace: &str,
    out: &mut Vec<Occurrence>,
) {
    let value = entry.value;
    match &*entry.key.key_text() {
        "secretKeyRef" | "secretRef" => named(reader, value, "name", Sort::Secret, namespace, out),
        "configMapKeyRef" | "configMapRef" => named(reader, value, "name", Sort::ConfigMap, namespace, out),
        // volumes, and their parts in a projected one
        "secret" if reader.get(value, "secretName").is_some() => {
            let object = (namespace.to_owned(), reader.text(value, &["secretName"]).into_owned());
            keys(reader, value, Sort::Secret, &object, out);
        }
        "secret" if in_list(holder, "sources") => named(reader, value, "name", Sort::Secret, namespace, out),
        "configMap" if in_list(holder, "sources") || in_list(holder, "volumes") => {
            named(reader, value, "name", Sort::ConfigMap, namespace, out);
        }
        "imagePullSecrets" => {
            for item in reader.items(value) {
                named(reader, item, "name", Sort::Secret, namespace, out);
            }
        }
        "secretName" => {
            let object = |name| Symbol::Secret((namespace.to_owned(), name));
            reader.note(value, None, Role::Reference, object, out);
        }
        "configMapName" => {
            let elsewhere = reader.text(holder, &["configMapNamespace"]);
            let namespace = if elsewhere.is_empty() { namespace } else { &elsewhere };
            let object = (namespace.to_owned(), reader.text(holder, &["configMapName"]).into_owned());
            reader.note(value, None, Role::Reference, |name| Symbol::ConfigMap((namespace.to_owned(), name)), out);
            for item in reader.get(holder, "configMapKeys").map(|list| reader.items(list)).unwrap_or_default() {
                reader.note(item, None, Role::Reference, |key| Symbol::ConfigMapKey(object.clone(), key), out);
            }
        }
        _ => {}
    }
}

/// The object that a field of `node` names, and the keys that stand beside it.
fn named<'d>(reader: &Reader<'d>, node: Node<'d>, field: &str, sort: Sort, namespace: &str, out: &mut Vec<Occurrence>) {
    reader.note_field(node, field, None, Role::Reference, |name| sort.object((namespace.to_owned(), name)), out);
    let object = (namespace.to_owned(), reader.text(node, &[field]).into_owned());
    if !object.1.is_empty() {
        reader.note_field(node, "key", None, Role::Reference, |key| sort.key(object.clone(), key), out);
        keys(reader, node, sort, &object, out);
    }
}

/// The keys that a volume takes.
fn keys<'d>(reader: &Reader<'d>, node: Node<'d>, sort: Sort, object: &ObjectKey, out: &mut Vec<Occurrence>) {
    for item in reader.get(node, "items").map(|items| reader.items(items)).unwrap_or_default() {
        reader.note_field(item, "key", None, Role::Reference, |key| sort.key(object.clone(), key), out);
    }
}

/// Whether a mapping is an item of the list with this key.
fn in_list(item: Node<'_>, key: &str) -> bool {
    item.parent()
        .filter(|list| list.is_sequence())
        .and_then(|list| list.key())
        .is_some_and(|found| found.key_text() == key)
}
