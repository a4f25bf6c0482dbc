//! The surroundings of a resource: what its file and the workspace say about the objects that it names.

use super::Analysis;
use super::document::DocumentAnalysis;
use super::file::File;
use super::objects::{Manifest, ObjectKey, Objects, SecretKeys};
use super::overlay::Embedded;
use super::workspace::Workspace;
use llsd_generator::api::{ApiVersion, Kind};
use llsd_generator::check::facts::Facts;
use llsd_generator::config::mounting::Mount;
use llsd_generator::config::reading::Reading;
use llsd_generator::fold::UserConfig;
use llsd_generator::kustomize::Kustomization;
use llsd_generator::ogx;
use llsd_generator::path::Path;
use llsd_generator::references::{self, ReferenceKind};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

/// The objects that a file can see.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ObjectScope<'a> {
    pub(crate) own: &'a File,
    pub(crate) workspace: &'a Workspace,
}

/// An object that a resource refers to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Reference {
    pub(crate) kind: ReferenceKind,
    pub(crate) key: ObjectKey,
    /// Whether a verdict depends on it.
    is_required: bool,
}

/// The names of objects and resources that the removed and the added documents declare, unless both contribute the
/// same to other documents: then nothing has to be judged again.
pub(crate) fn changed(removed: &[Arc<DocumentAnalysis>], added: &[Arc<DocumentAnalysis>]) -> HashSet<String> {
    let contributions = |documents: &[Arc<DocumentAnalysis>]| -> Vec<u64> {
        documents.iter().map(|document| document.contribution()).filter(|number| *number != 0).collect()
    };
    if contributions(removed) == contributions(added) {
        return HashSet::new();
    }
    let all = removed.iter().chain(added);
    all.flat_map(|document| {
        let resources = document.resources().iter().map(|resource| resource.name());
        document.objects().known_by().map(String::as_str).chain(resources)
    })
    .map(str::to_owned)
    .collect()
}

/// The document judged by what is known now; `None` if its verdict still holds.
pub(crate) fn judge(document: &DocumentAnalysis, known: ObjectScope<'_>) -> Option<DocumentAnalysis> {
    let facts = facts(document, known);
    let judged = document.objects().kustomization.as_ref().map(|own| embedded(document, own, known));
    let (embedded, renewed) = judged.unwrap_or_default();
    (renewed || facts != **document.facts()).then(|| document.with_facts(Arc::new(facts), embedded))
}

/// The patches that stand in a kustomization, judged by what is known now, and whether one is judged anew.
fn embedded(document: &DocumentAnalysis, own: &Kustomization, known: ObjectScope<'_>) -> (Vec<Embedded>, bool) {
    let mut renewed = false;
    let again = |one: &Embedded| {
        let mut facts = facts(&one.document, known);
        facts.part =
            manifest(&one.document).and_then(|manifest| known.workspace.part_within(own, one.number, manifest));
        // a patch is one also where nothing else is known
        facts.part.get_or_insert_default();
        if facts == **one.document.facts() {
            return one.clone();
        }
        renewed = true;
        one.with(one.document.with_facts(Arc::new(facts), Vec::new()))
    };
    (document.embedded().iter().map(again).collect(), renewed)
}

/// The one resource or list of operations that a document is.
fn manifest(document: &DocumentAnalysis) -> Option<&Manifest> {
    match document.objects().manifests.as_slice() {
        [one] => Some(one),
        _ => None,
    }
}

/// What the document's resources may be judged by. A Secret that no file has may well be in the cluster, so Secrets
/// count as known only if all that are named were found, or the cluster was asked and has none; and so do ConfigMaps.
fn facts(document: &DocumentAnalysis, known: ObjectScope<'_>) -> Facts {
    let version = known.workspace.assumed_version().map(str::to_owned);
    let bases = Arc::clone(known.workspace.bases());
    let mut facts = Facts { llama_stack_version: version, bases, ..Facts::default() };
    let (mut secrets, mut config_maps) = (BTreeMap::new(), BTreeMap::new());
    let (mut all_secrets, mut all_config_maps) = (true, true);
    let cluster = known.workspace.cluster();
    for reference in document.references() {
        let read = known.readings(reference);
        if !read.is_empty() {
            facts.readings.insert((reference.kind, reference.key.clone()), read);
        }
    }
    for reference in document.references().iter().filter(|reference| reference.is_required) {
        facts.unwatched.extend(known.unwatched(reference));
        if let Some(shown) = known.workspace.hashing(reference.kind, &reference.key.1) {
            facts.hashed.insert((reference.kind, reference.key.clone()), shown);
        }
        let key = &reference.key;
        match reference.kind {
            ReferenceKind::Secret => match known.secret(key) {
                Some(keys) => _ = secrets.insert(key.clone(), keys.keys().cloned().collect()),
                None => match cluster.filter(|cluster| cluster.complete_secrets.contains(cluster.meant(&key.0))) {
                    Some(cluster) => {
                        let there = beside_missing(&cluster.objects.secrets, cluster.meant(&key.0));
                        secrets.extend(there.map(|(key, keys)| (key, keys.into_keys().collect())));
                    }
                    None => all_secrets = false,
                },
            },
            ReferenceKind::ConfigMap => match known.config_map(key) {
                Some(data) => _ = config_maps.insert(key.clone(), data.clone()),
                None => match cluster.filter(|cluster| cluster.complete_config_maps.contains(cluster.meant(&key.0))) {
                    Some(cluster) => {
                        config_maps.extend(beside_missing(&cluster.objects.config_maps, cluster.meant(&key.0)));
                    }
                    None => all_config_maps = false,
                },
            },
        }
    }
    if all_secrets && (!secrets.is_empty() || cluster.is_some()) {
        facts.secrets = Some(secrets);
    }
    if all_config_maps && (!config_maps.is_empty() || cluster.is_some()) {
        facts.config_maps = Some(config_maps);
    }
    let is_file = document.configs().iter().any(|config| config.owner().is_none());
    facts.made_into = if is_file { known.workspace.made_into() } else { Vec::new() };
    facts.mounts = known.mounts(document, &facts.made_into);
    if is_file || document.may_have_configs() {
        let charted = known.workspace.charted();
        facts.made_into.extend(charted.made_into);
        facts.mounts.extend(charted.mounts);
        facts.puts = charted.puts;
    }
    facts.part = manifest(document).and_then(|manifest| known.workspace.part(manifest));
    for resource in document.resources() {
        let key = (resource.namespace().to_owned(), resource.name().to_owned());
        let kind = resource.version.kind();
        let so_called = (kind, key.clone());
        if known.own.resources_called(&so_called) > 1 {
            facts.resources.insert(so_called);
        } else if let Some(namesake) = known.workspace.namesake(&key) {
            facts.namesakes.insert(key, namesake);
        }
    }
    facts
}

/// The objects of a namespace: one that is missing there may have been meant to be one of them.
fn beside_missing<'a, T: Clone>(
    objects: &'a BTreeMap<ObjectKey, T>,
    namespace: &'a str,
) -> impl Iterator<Item = (ObjectKey, T)> + 'a {
    let from = (namespace.to_owned(), String::new());
    let here = objects.range(from..).take_while(move |((known, _), _)| known == namespace);
    here.map(|(key, object)| (key.clone(), object.clone()))
}

/// The objects that a resource of namespace `namespace` refers to.
pub(crate) fn references(value: &Value, namespace: &str) -> BTreeSet<Reference> {
    let reference = |one: references::Reference<'_>| {
        let namespace = one.namespace.as_ref().map_or(namespace, |(elsewhere, _)| elsewhere);
        let key = (namespace.to_owned(), one.name.to_owned());
        Reference { kind: one.kind, key, is_required: one.is_required() }
    };
    references::references(value).into_iter().map(reference).collect()
}

/// The objects that an `OGXServer` refers to by a name and a key, without a field that tells what they are.
pub(crate) fn flat_references(version: ApiVersion, value: &Value, namespace: &str) -> Vec<Reference> {
    if version.kind() != Kind::OgxServer {
        return Vec::new();
    }
    let named = |(kind, at): (ReferenceKind, Path)| {
        let name = at.key("name").find(value)?.as_str().filter(|name| !name.is_empty())?;
        let key = (namespace.to_owned(), name.to_owned());
        Some(Reference { kind, key, is_required: true })
    };
    ogx::reference_places(value).into_iter().filter_map(named).collect()
}

/// The object of this key in the resource's own file: one that names no namespace may be put into any, and a resource
/// that names none may be put beside any. Of two with one key the later counts.
fn beside<'o, T: 'o>(
    objects: impl Iterator<Item = (&'o ObjectKey, &'o T)>,
    (namespace, name): &ObjectKey,
) -> Option<&'o T> {
    let mut found: BTreeMap<&str, &T> = BTreeMap::new();
    for ((known, _), object) in objects.filter(|((_, known), _)| known == name) {
        found.insert(known, object);
    }
    let fitting = |known: &str| namespace.is_empty() || known.is_empty() || known == namespace;
    found.into_iter().find(|(known, _)| fitting(known)).map(|(_, object)| object)
}

/// The object of this key in other files: of the very same namespace, and only if no two files have one of that name.
/// Folders of examples often repeat a name, and which one is meant only their author knows.
fn elsewhere<'o, T: 'o>(mut objects: impl Iterator<Item = (&'o ObjectKey, &'o T)>, key: &ObjectKey) -> Option<&'o T> {
    let (known, object) = objects.find(|((_, known), _)| *known == key.1)?;
    let ambiguous = objects.any(|((_, other), _)| *other == key.1);
    (!ambiguous && known == key).then_some(object)
}

impl<'a> ObjectScope<'a> {
    /// What the values of the object that is referred to are read as, where that is no text.
    fn readings(self, Reference { kind, key, .. }: &Reference) -> BTreeMap<String, Reading> {
        let named = |(name, reading): (&String, Option<Reading>)| Some((name.clone(), reading?));
        match kind {
            ReferenceKind::Secret => {
                self.secret(key).into_iter().flatten().filter_map(|(name, read)| named((name, *read))).collect()
            }
            ReferenceKind::ConfigMap => {
                let data = self.config_map(key).into_iter().flatten();
                data.filter_map(|(name, text)| named((name, Reading::of(text)))).collect()
            }
        }
    }

    fn secret(self, key: &ObjectKey) -> Option<&'a SecretKeys> {
        let own = self.own.defining(&key.1).flat_map(|document| &document.objects().secrets);
        let others = || self.workspace.with_name(&key.1).flat_map(|objects| &objects.secrets);
        beside(own, key)
            .or_else(|| elsewhere(others(), key))
            .or_else(|| self.workspace.cluster().and_then(|cluster| cluster.secret(key)))
    }

    fn config_map(self, key: &ObjectKey) -> Option<&'a BTreeMap<String, String>> {
        let own = self.own.defining(&key.1).flat_map(|document| &document.objects().config_maps);
        let others = || self.workspace.with_name(&key.1).flat_map(|objects| &objects.config_maps);
        beside(own, key)
            .or_else(|| elsewhere(others(), key))
            .or_else(|| self.workspace.cluster().and_then(|cluster| cluster.config_map(key)))
    }

    /// The object itself, if it is known and every one of its name lacks the label of ogx's operator.
    fn unwatched(self, reference: &Reference) -> Option<(ReferenceKind, ObjectKey)> {
        let Reference { kind, key, .. } = reference;
        let own = self.own.defining(&key.1).map(|document| document.objects());
        let mut all = own.chain(self.workspace.with_name(&key.1)).filter(|objects| match kind {
            ReferenceKind::Secret => objects.secrets.keys().any(|known| known.1 == key.1),
            ReferenceKind::ConfigMap => objects.config_maps.keys().any(|known| known.1 == key.1),
        });
        let lacks = |objects: &Objects| objects.unwatched.iter().any(|(of, known)| of == kind && known.1 == key.1);
        let first = all.next()?;
        (lacks(first) && all.all(lacks)).then(|| (*kind, key.clone()))
    }

    /// The resources that mount the configs of a document: those of its own file, and those of files that have no
    /// ConfigMap of that name themselves. Where several files have one, which is meant only their author knows.
    /// `made_into`: the ConfigMaps that are made of the document's file.
    fn mounts(self, document: &DocumentAnalysis, made_into: &[ObjectKey]) -> Vec<Arc<Mount>> {
        let mut found = Vec::new();
        // of what a chart makes ConfigMaps of, the chart knows best what mounts it
        let configs = document.configs().iter().filter(|_| !document.may_have_configs());
        let owners = configs.filter_map(|config| config.owner()).map(|owner| &owner.object);
        let owners: BTreeSet<&ObjectKey> = owners.chain(made_into).collect();
        for owner in owners {
            let own = self.own.iter().flat_map(|located| &located.document.objects().mounts);
            found.extend(own.filter(|mount| mount.names(owner)).cloned());
            let others: Vec<&Objects> = self.workspace.with_name(&owner.1).collect();
            let made = made_into.contains(owner);
            let declared = |objects: &&Objects| !made && objects.config_maps.keys().any(|(_, name)| *name == owner.1);
            if !others.iter().any(declared) {
                let mounts = others.iter().flat_map(|objects| &objects.mounts);
                found.extend(mounts.filter(|mount| mount.names(owner)).cloned());
            }
        }
        found
    }

    fn all(self) -> impl Iterator<Item = &'a Objects> {
        self.own.objects().map(AsRef::as_ref).chain(self.workspace.objects())
    }
}

fn visible(known: &str, namespace: &str) -> bool {
    known.is_empty() || namespace.is_empty() || known == namespace
}

impl Analysis {
    fn known(&self) -> ObjectScope<'_> {
        ObjectScope { own: &self.file, workspace: &self.workspace }
    }

    /// Names of the Secrets that a resource in `namespace` can refer to.
    pub(crate) fn secret_names(&self, namespace: &str) -> Vec<String> {
        let keys = self.known().all().flat_map(|objects| objects.secrets.keys());
        let mut names: Vec<String> =
            keys.filter(|(known, _)| visible(known, namespace)).map(|(_, name)| name.clone()).collect();
        if let Some(cluster) = self.workspace.cluster() {
            let there = cluster.objects.secrets.keys().filter(|(known, _)| known == cluster.meant(namespace));
            names.extend(there.map(|(_, name)| name.clone()));
        }
        names
    }

    /// Names of the ConfigMaps that a resource in `namespace` can refer to.
    pub(crate) fn config_map_names(&self, namespace: &str) -> Vec<String> {
        let keys = self.known().all().flat_map(|objects| objects.config_maps.keys());
        let mut names: Vec<String> =
            keys.filter(|(known, _)| visible(known, namespace)).map(|(_, name)| name.clone()).collect();
        if let Some(cluster) = self.workspace.cluster() {
            let there = cluster.objects.config_maps.keys().filter(|(known, _)| known == cluster.meant(namespace));
            names.extend(there.map(|(_, name)| name.clone()));
        }
        names
    }

    /// What the files say about the ConfigMap of a resource's `userConfig`.
    pub(crate) fn user_config(&self, key: &ObjectKey) -> UserConfig<'_> {
        let known = self.known();
        // of one that a kustomization makes from files only the keys are known
        let whole = |data: &&BTreeMap<String, String>| data.values().all(|text| !text.is_empty());
        if let Some(data) = known.config_map(key).filter(whole) {
            return UserConfig::Data(data);
        }
        let files = known.workspace.with_name(&key.1);
        let of_that_name = files.filter(|objects| objects.config_maps.keys().any(|(_, name)| *name == key.1));
        if of_that_name.count() > 1 { UserConfig::SeveralFiles } else { UserConfig::NotHere }
    }

    /// Whether a Secret that a resource in `namespace` names is in the files.
    pub(crate) fn has_secret(&self, namespace: &str, name: &str) -> bool {
        self.known().secret(&(namespace.to_owned(), name.to_owned())).is_some()
    }

    /// Whether a ConfigMap that a resource in `namespace` names is in the files.
    pub(crate) fn has_config_map(&self, namespace: &str, name: &str) -> bool {
        self.known().config_map(&(namespace.to_owned(), name.to_owned())).is_some()
    }

    /// The keys of a Secret in the files or the cluster; none if it is not known.
    pub(crate) fn secret_keys(&self, namespace: &str, name: &str) -> Vec<String> {
        let found = self.known().secret(&(namespace.to_owned(), name.to_owned()));
        found.into_iter().flatten().map(|(key, _)| key.clone()).collect()
    }

    /// The keys of a ConfigMap in the files or the cluster; none if it is not known.
    pub(crate) fn config_map_keys(&self, namespace: &str, name: &str) -> Vec<String> {
        let found = self.known().config_map(&(namespace.to_owned(), name.to_owned()));
        found.into_iter().flatten().map(|(key, _)| key.clone()).collect()
    }

    /// Names of Secrets or ConfigMaps that resources of this file refer to.
    pub(crate) fn referred(&self, kind: ReferenceKind) -> BTreeSet<String> {
        let references = self.documents().flat_map(|located| located.document.references());
        references.filter(|reference| reference.kind == kind).map(|reference| reference.key.1.clone()).collect()
    }

    /// Names of models that resources of this file register.
    pub(crate) fn model_names(&self) -> Vec<String> {
        let resources = self.documents().flat_map(|located| located.document.resources());
        let models =
            resources.filter_map(|resource| resource.value.get("spec")?.get("resources")?.get("models")?.as_array());
        models.flatten().filter_map(|model| Some(model.get("name")?.as_str()?.to_owned())).collect()
    }
}
