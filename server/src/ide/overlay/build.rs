//! What the resources of ours look like on their way through kustomizations.

use super::super::file_names::{folder_of, relative};
use super::super::objects::{Manifest, Pieces};
use super::{MAX_DEPTH, Made, Overlays, Writer};
use llsd_generator::api::{ApiVersion, Kind};
use llsd_generator::check::part::{Part, Whole};
use llsd_generator::document::Plain;
use llsd_generator::kustomize::{Identity, Kustomization, Operations, Patch, Source, Target, apply, is_remote};
use llsd_generator::path::Path;
use llsd_yaml::{parse_document, split_documents};
use rpds::RedBlackTreeMapSync;
use serde_json::Value;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::Arc;

/// How many files and patches one answer looks at, so that a key stays quick where overlays are many.
const BUDGET: usize = 500;

/// Works out answers within a budget.
pub(in crate::ide) struct Builder<'w> {
    overlays: &'w Overlays,
    /// What the documents of each file contribute.
    files: &'w RedBlackTreeMapSync<Arc<str>, Pieces>,
    left: Cell<usize>,
    /// Whether kustomize would stop at a patch.
    stopped: Cell<bool>,
    /// Whether patches count that may meet a resource: their labels decide, or they do not fit.
    lenient: bool,
}

/// A resource on its way.
#[derive(Clone, Debug)]
struct Item {
    value: Value,
    unknown: BTreeSet<Path>,
    /// Names and namespaces that it had before, by which patches find it too.
    earlier: Vec<(String, String)>,
    /// The texts that it is made of.
    writers: Vec<Writer>,
}

impl Item {
    fn of(file: &str, manifest: &Manifest) -> Self {
        let writer = Writer {
            file: file.into(),
            inline: None,
            entry: None,
            value: Arc::clone(&manifest.value),
            operations: Vec::new(),
        };
        Self {
            value: (*manifest.value).clone(),
            unknown: manifest.unknown.clone(),
            earlier: Vec::new(),
            writers: vec![writer],
        }
    }

    /// Everything by which a patch may find it.
    fn identities(&self) -> impl Iterator<Item = Identity<'_>> {
        let now = Identity::of(&self.value);
        let before = self.earlier.iter().map(move |(name, namespace)| Identity { name, namespace, ..now });
        std::iter::once(now).chain(before)
    }

    fn rename(&mut self, change: impl Fn(&mut serde_json::Map<String, Value>)) {
        let now = Identity::of(&self.value);
        let before = (now.name.to_owned(), now.namespace.to_owned());
        let Some(metadata) = self.value.get_mut("metadata").and_then(Value::as_object_mut) else { return };
        change(metadata);
        self.earlier.push(before);
    }
}

impl<'w> Builder<'w> {
    pub(in crate::ide) fn new(overlays: &'w Overlays, files: &'w RedBlackTreeMapSync<Arc<str>, Pieces>) -> Self {
        Self { overlays, files, left: Cell::new(BUDGET), stopped: Cell::new(false), lenient: false }
    }

    /// The same, with every patch counted that may meet a resource.
    pub(in crate::ide) fn lenient(overlays: &'w Overlays, files: &'w RedBlackTreeMapSync<Arc<str>, Pieces>) -> Self {
        Self { lenient: true, ..Self::new(overlays, files) }
    }

    /// The resources that a patch in a file of its own meets, in every kustomization that takes it. `patch` is what the
    /// file says now.
    pub(in crate::ide) fn part(&self, file: &str, patch: &Manifest) -> Part {
        let mut part = Part::default();
        for kustomization_file in self.overlays.patching(file) {
            let Some(kustomization) = self.overlays.kustomizations.get(kustomization_file) else { continue };
            let folder = folder_of(kustomization_file);
            for (number, entry) in kustomization.patches.iter().enumerate() {
                if matches!(&entry.source, Source::File(path) if relative(folder, path) == file) {
                    self.meeting(kustomization_file, kustomization, number, patch, &mut part);
                }
            }
        }
        part
    }

    /// The same for a patch that stands in the kustomization `own` in `file`.
    pub(in crate::ide) fn within(&self, file: &str, own: &Kustomization, number: usize, patch: &Manifest) -> Part {
        let mut part = Part::default();
        self.meeting(file, own, number, patch, &mut part);
        part
    }

    /// What the resources of a kustomization are made of, as far as its files tell.
    pub(in crate::ide) fn made(&self, file: &str) -> Vec<Made> {
        let Some(kustomization) = self.overlays.kustomizations.get(file) else { return Vec::new() };
        let mut items = self.taken(file, kustomization, 0);
        self.change(file, kustomization, &mut items, None);
        let made = |item: Item| {
            let now = Identity::of(&item.value);
            let key = (now.namespace.to_owned(), now.name.to_owned());
            Made { key, value: item.value, writers: item.writers }
        };
        items.into_iter().map(made).collect()
    }

    /// Whether kustomize would have stopped at a patch that does not apply.
    pub(in crate::ide) fn is_stopped(&self) -> bool {
        self.stopped.get()
    }

    /// Whether there was more to follow than is followed.
    pub(in crate::ide) fn is_spent(&self) -> bool {
        self.left.get() == 0
    }

    /// The documents of patch number `number` of a kustomization, each with the resources that it meets, as they are
    /// then.
    pub(super) fn met(&self, file: &str, number: usize) -> Vec<(Manifest, Vec<Value>)> {
        let Some(kustomization) = self.overlays.kustomizations.get(file) else { return Vec::new() };
        let Some(entry) = kustomization.patches.get(number) else { return Vec::new() };
        let mut items = self.reaching(file, kustomization, number);
        let mut all = Vec::new();
        for body in self.bodies(file, entry) {
            let mut met = Vec::new();
            for item in items.iter_mut().filter(|item| self.meets(entry, &body.value, item)) {
                met.push(item.value.clone());
                if let Ok(Some(changed)) = apply(&item.value, &body.value) {
                    item.value = changed;
                }
            }
            all.push((body, met));
        }
        all
    }

    /// Adds what patch number `number` of a kustomization meets.
    fn meeting(&self, file: &str, kustomization: &Kustomization, number: usize, patch: &Manifest, part: &mut Part) {
        let Some(entry) = kustomization.patches.get(number) else { return };
        for item in self.reaching(file, kustomization, number) {
            if !self.meets(entry, &patch.value, &item) {
                continue;
            }
            part.version = part.version.or_else(|| version(Identity::of(&item.value).api_version));
            let Ok(Some(after)) = apply(&item.value, &patch.value) else { continue };
            let whole = Whole { before: item.value, after, unknown: &item.unknown | &patch.unknown };
            if !part.wholes.contains(&whole) {
                part.wholes.push(whole);
            }
        }
        let named = entry.target.as_ref().and_then(|target| {
            let kind = Kind::named(&target.kind).or_else(|| Kind::of_group(&target.group))?;
            kind.versions().iter().copied().find(|one| one.name() == target.version)
        });
        part.version = part.version.or(named);
    }

    /// All resources as they are when patch number `until` of a kustomization is applied.
    fn reaching(&self, file: &str, kustomization: &Kustomization, until: usize) -> Vec<Item> {
        if !kustomization.is_component {
            let mut items = self.taken(file, kustomization, 0);
            self.change(file, kustomization, &mut items, Some(until));
            return items;
        }
        let folder = folder_of(file).trim_end_matches('/');
        let users = self.overlays.users.get(folder).into_iter().flat_map(|users| users.keys());
        let mut all = Vec::new();
        for user_file in users {
            let Some(user) = self.overlays.kustomizations.get(user_file) else { continue };
            let mut items = self.resources(user_file, user, 0);
            for path in &user.components {
                let component = relative(folder_of(user_file), path);
                if component == folder {
                    items.extend(self.resources(file, kustomization, 0));
                    self.change(file, kustomization, &mut items, Some(until));
                    break;
                }
                self.include(&component, &mut items, 0);
            }
            all.append(&mut items);
        }
        all
    }

    /// The resources of a kustomization with what its components make of them.
    fn taken(&self, file: &str, kustomization: &Kustomization, depth: usize) -> Vec<Item> {
        let mut items = self.resources(file, kustomization, depth);
        for path in &kustomization.components {
            self.include(&relative(folder_of(file), path), &mut items, depth);
        }
        items
    }

    /// What a component adds and changes.
    fn include(&self, folder: &str, items: &mut Vec<Item>, depth: usize) {
        if depth > MAX_DEPTH {
            return;
        }
        if let Some((file, component)) = self.overlays.in_folder(folder) {
            items.extend(self.taken(file, component, depth + 1));
            self.change(file, component, items, None);
        }
    }

    /// The resources that a kustomization lists, as they come out of other kustomizations.
    fn resources(&self, file: &str, kustomization: &Kustomization, depth: usize) -> Vec<Item> {
        let mut items = Vec::new();
        for path in kustomization.resources.iter().filter(|path| !is_remote(path)) {
            if depth > MAX_DEPTH || !self.spend() {
                break;
            }
            let path = relative(folder_of(file), path);
            match self.overlays.in_folder(&path) {
                Some((inner_file, inner)) => {
                    let mut inside = self.taken(inner_file, inner, depth + 1);
                    self.change(inner_file, inner, &mut inside, None);
                    items.append(&mut inside);
                }
                None => items.extend(self.manifests(&path).map(|manifest| Item::of(&path, manifest))),
            }
        }
        items
    }

    /// Applies what a kustomization does to its resources, in kustomize's order; up to a patch.
    fn change(&self, file: &str, kustomization: &Kustomization, items: &mut Vec<Item>, until: Option<usize>) {
        let patches = kustomization.patches.iter().enumerate().take(until.unwrap_or(usize::MAX));
        let until_late = until.and_then(|until| kustomization.patches.get(until)).is_none_or(|patch| patch.is_late);
        for (number, patch) in patches.clone().filter(|(_, patch)| !patch.is_late) {
            self.apply(file, number, patch, items);
        }
        if !until_late {
            return;
        }
        for item in items.iter_mut() {
            let Kustomization { name_prefix, name_suffix, namespace, .. } = kustomization;
            if !namespace.is_empty() {
                item.rename(|metadata| _ = metadata.insert("namespace".to_owned(), namespace.as_str().into()));
            }
            if !(name_prefix.is_empty() && name_suffix.is_empty()) {
                item.rename(|metadata| {
                    let name = metadata.get("name").and_then(Value::as_str).unwrap_or_default();
                    let name = format!("{name_prefix}{name}{name_suffix}");
                    metadata.insert("name".to_owned(), name.into());
                });
            }
        }
        for (number, patch) in patches.filter(|(_, patch)| patch.is_late) {
            self.apply(file, number, patch, items);
        }
    }

    fn apply(&self, file: &str, number: usize, patch: &Patch, items: &mut Vec<Item>) {
        if !self.spend() {
            return;
        }
        let bodies = self.bodies(file, patch);
        // one that has no header, or is not here: its target says what it meets
        let unread = self.lenient && bodies.is_empty() && patch.target.is_some();
        let bodies = if unread { vec![Manifest::default()] } else { bodies };
        for body in bodies {
            items.retain_mut(|item| {
                if !self.meets(patch, &body.value, item) {
                    return true;
                }
                match apply(&item.value, &body.value) {
                    Ok(Some(changed)) => {
                        item.writers.push(Writer::patch(file, patch, number, &body, &changed));
                        item.value = changed;
                        item.unknown.extend(body.unknown.iter().cloned());
                        true
                    }
                    Ok(None) if !self.lenient => false,
                    // kustomize stops at an error, and says so when it builds
                    other => {
                        self.stopped.set(self.stopped.get() || other.is_err());
                        if self.lenient {
                            item.writers.push(Writer::patch(file, patch, number, &body, &item.value));
                        }
                        true
                    }
                }
            });
        }
    }

    /// What a patch says, document by document.
    fn bodies(&self, file: &str, patch: &Patch) -> Vec<Manifest> {
        match &patch.source {
            Source::File(path) => self.manifests(&relative(folder_of(file), path)).cloned().collect(),
            Source::Inline { text, .. } => bodies_of(text),
        }
    }

    /// Whether a patch applies to a resource. Where labels decide, it is not followed.
    fn meets(&self, patch: &Patch, body: &Value, item: &Item) -> bool {
        match &patch.target {
            Some(target) if self.lenient => {
                // one of another version may select it once it has been migrated
                let target = Target { version: String::new(), ..target.clone() };
                item.identities().any(|one| target.selects(&one) != Some(false))
            }
            Some(target) => item.identities().any(|one| target.selects(&one) == Some(true)),
            None if Operations::read(body).is_some() => false,
            None => {
                let mut wanted = Identity::of(body);
                item.identities().any(|one| {
                    if self.lenient && version(wanted.api_version).is_some() {
                        wanted.api_version = one.api_version;
                    }
                    one.is(&wanted)
                })
            }
        }
    }

    /// The resources of ours, and the lists of operations, in a file.
    fn manifests(&self, file: &str) -> impl Iterator<Item = &'w Manifest> {
        self.files.get(file).into_iter().flat_map(|pieces| pieces.iter()).flat_map(|piece| &piece.manifests)
    }

    fn spend(&self) -> bool {
        let left = self.left.get();
        self.left.set(left.saturating_sub(1));
        left > 0
    }
}

/// The documents of a patch.
pub(in crate::ide) fn bodies_of(text: &str) -> Vec<Manifest> {
    let documents = split_documents(text).into_iter();
    let read = documents.map(|span| Plain::read(&parse_document(span.slice(text))));
    read.filter(|plain| !plain.value.is_null())
        .map(|plain| Manifest { value: Arc::new(plain.value), unknown: plain.unknown })
        .collect()
}

fn version(api_version: &str) -> Option<ApiVersion> {
    ApiVersion::ALL.into_iter().find(|one| one.api_version() == api_version)
}
