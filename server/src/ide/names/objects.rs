//! The names in other Kubernetes objects: what Secrets and ConfigMaps declare, and what any object refers to.

use super::reader::Reader;
use super::{DocumentNames, Form, Occurrence, Role, Symbol};
use crate::ide::objects::ObjectKey;
use llsd_generator::references::{Keys, NAMES, ReferenceKind, Step, field_at};
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
    for (field, kind) in [("configMapGenerator", ReferenceKind::ConfigMap), ("secretGenerator", ReferenceKind::Secret)]
    {
        for one in reader.get(root, field).map(|list| reader.items(list)).unwrap_or_default() {
            let object = (reader.text(one, &["namespace"]).into_owned(), reader.text(one, &["name"]).into_owned());
            let named = |name| kind.object((object.0.clone(), name));
            reader.note_field(one, "name", None, Role::Declaration, named, out);
            for list in ["files", "literals"] {
                for entry in reader.get(one, list).map(|list| reader.items(list)).unwrap_or_default() {
                    generated_key(entry, list == "files", |key| kind.key(object.clone(), key), out);
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
        // An alias means what it means where it stands, and has its fields where its anchor is.
        let fields =
            reader.real(node).into_iter().flat_map(|holder| holder.entries()).map(|entry| entry.key.key_text());
        if fields.into_iter().any(|field| field == "<<" || NAMES.contains(&&*field)) {
            NAMES
                .iter()
                .filter_map(|name| reference(reader, node, name, namespace))
                .for_each(|found| out.extend(found));
        }
        open.extend(node.children());
    }
}

/// The object that the field `name` of a mapping names, and the keys of it that are named beside.
fn reference<'d>(reader: &Reader<'d>, holder: Node<'d>, name: &str, namespace: &str) -> Option<Vec<Occurrence>> {
    let mut found = Vec::new();
    let written = reader.get(holder, name)?;
    let field = field_at(std::iter::once(Step::Key(name.into())).chain(outward(holder)))?;
    let elsewhere = reader.text(holder, &[field.namespace]);
    let namespace = if elsewhere.is_empty() { namespace } else { &elsewhere };
    let named = |name| field.kind.object((namespace.to_owned(), name));
    reader.note(written, None, Role::Reference, named, &mut found);
    let object = (namespace.to_owned(), reader.text(holder, &[name]).into_owned());
    let key = |key| field.kind.key(object.clone(), key);
    let items = |list| reader.get(holder, list).map(|list| reader.items(list)).unwrap_or_default();
    match field.keys {
        _ if object.1.is_empty() => {}
        Keys::None => {}
        Keys::One(field) => reader.note_field(holder, field, None, Role::Reference, key, &mut found),
        Keys::Field { list, field } => {
            items(list).into_iter().for_each(|item| {
                reader.note_field(item, field, None, Role::Reference, key, &mut found);
            });
        }
        Keys::Items(list) => {
            items(list).into_iter().for_each(|item| reader.note(item, None, Role::Reference, key, &mut found));
        }
    }
    Some(found)
}

/// The steps from a node to the root of its document.
fn outward<'d>(node: Node<'d>) -> impl Iterator<Item = Step<'d>> {
    std::iter::successors(Some(node), |node| node.parent()).map_while(|node| match node.key() {
        Some(key) => Some(Step::Key(key.key_text())),
        None => node.parent().map(|_| Step::Item),
    })
}

/// What is named by a reference, as a symbol.
trait Named {
    fn object(self, key: ObjectKey) -> Symbol;
    fn key(self, object: ObjectKey, key: String) -> Symbol;
}

impl Named for ReferenceKind {
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
