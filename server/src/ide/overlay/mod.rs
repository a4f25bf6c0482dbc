//! Which file is what to the kustomizations of the workspace, and what a patch is merged into.
//!
//! Nothing is built here for anyone to apply: it is worked out what a resource of ours looks like where a patch meets
//! it, as far as the files at hand tell.

mod build;
mod embedded;
mod group;
mod writer;

use super::file_names::{folder_of, last_part, relative};
use super::objects::{ObjectKey, Objects, Pieces};
use llsd_generator::kustomize::{Content, FILE_NAMES, Generator, Kustomization, Patch, Source, is_remote};
use rpds::RedBlackTreeMapSync;
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

pub(super) use build::Builder;
pub(crate) use embedded::{Embedded, all_in};
pub use group::Apart;
pub(super) use group::{Entry, Group, Grouping};
pub use writer::{Made, Writer};

/// How many kustomizations may stand above each other: people stack three or four, and broken ones name each other.
const MAX_DEPTH: usize = 16;

/// How many files one change may concern. Nobody has that many overlays; a cycle may seem to.
const MAX_CONCERNED: usize = 2_000;

type Set = RedBlackTreeMapSync<Arc<str>, ()>;

/// The kustomizations of all files, and who uses what. Cheap to clone and to change.
#[derive(Clone, Debug, Default)]
pub(super) struct Overlays {
    kustomizations: RedBlackTreeMapSync<Arc<str>, Arc<Kustomization>>,
    /// For each file, and each folder (without a slash behind it), the kustomizations that take it as a resource or
    /// component.
    users: RedBlackTreeMapSync<Arc<str>, Set>,
    /// For each file the kustomizations that take it as a patch.
    patching: RedBlackTreeMapSync<Arc<str>, Set>,
}

impl Overlays {
    /// Takes in that `file` has the pieces `new` in place of `removed` and more. Returns the patches of which the whole, or
    /// that they are one, may have changed.
    pub(super) fn set(&mut self, file: &Arc<str>, removed: &[Arc<Objects>], new: &Pieces) -> HashSet<Arc<str>> {
        let mut concerned = HashSet::new();
        let role = |pieces: &[Arc<Objects>]| pieces.iter().any(|piece| piece.kustomization.is_some());
        if FILE_NAMES.contains(&last_part(file)) && (role(removed) || role(new)) {
            let old = self.kustomizations.get(file).cloned();
            let now = new.iter().rev().find_map(|piece| piece.kustomization.clone());
            if old != now {
                if let Some(old) = &old {
                    self.note(file, old, false);
                    concerned.extend(patch_files(file, old));
                }
                match now {
                    Some(now) => {
                        self.note(file, &now, true);
                        concerned.extend(patch_files(file, &now));
                        self.kustomizations.insert_mut(Arc::clone(file), now);
                    }
                    None => _ = self.kustomizations.remove_mut(file),
                }
                self.above(folder_of(file).trim_end_matches('/'), 0, &mut concerned);
            }
        } else if self.users.contains_key(file) || self.patching.contains_key(file) {
            self.above(file, 0, &mut concerned);
        }
        concerned.remove(file);
        concerned
    }

    fn note(&mut self, file: &Arc<str>, kustomization: &Kustomization, used: bool) {
        let folder = folder_of(file);
        let paths = kustomization.resources.iter().chain(&kustomization.components);
        for path in paths.filter(|path| !is_remote(path)) {
            note(&mut self.users, relative(folder, path).into(), file, used);
        }
        for patch in patch_files(file, kustomization) {
            note(&mut self.patching, patch, file, used);
        }
    }

    /// The patches of all kustomizations that use a file or folder, and of those that use them.
    fn above(&self, path: &str, depth: usize, found: &mut HashSet<Arc<str>>) {
        if depth > MAX_DEPTH || found.len() > MAX_CONCERNED {
            return;
        }
        let users = [&self.users, &self.patching].into_iter().filter_map(|all| all.get(path));
        for user in users.flat_map(|users| users.keys()) {
            if let Some(kustomization) = self.kustomizations.get(user) {
                // for the patches that stand in it
                found.insert(Arc::clone(user));
                found.extend(patch_files(user, kustomization));
                // what a component patches, its users hand on
                let components = kustomization.components.iter().map(|path| relative(folder_of(user), path));
                for (file, component) in components.filter_map(|folder| self.in_folder(&folder)) {
                    found.extend(patch_files(file, component));
                }
            }
            self.above(folder_of(user).trim_end_matches('/'), depth + 1, found);
        }
    }

    /// The kustomization of a folder.
    fn in_folder(&self, folder: &str) -> Option<(&Arc<str>, &Arc<Kustomization>)> {
        FILE_NAMES.iter().find_map(|name| self.kustomizations.get_key_value(format!("{folder}/{name}").as_str()))
    }

    /// Whether a folder is known to have a kustomization.
    pub(super) fn has_kustomization(&self, folder: &str) -> bool {
        self.in_folder(folder).is_some()
    }

    /// The kustomizations that take a file, through others too, and that no other takes: what there is to build. Components
    /// are not among them: they build nothing alone.
    pub(super) fn tops(&self, file: &str) -> BTreeSet<Arc<str>> {
        let own = self.kustomizations.get_key_value(file).map(|(own, _)| Arc::clone(own));
        let mut next: Vec<Arc<str>> = own.map_or_else(|| self.takers(file), |own| vec![own]);
        let (mut seen, mut found) = (HashSet::new(), BTreeSet::new());
        while let Some(one) = next.pop() {
            if seen.len() > MAX_CONCERNED || !seen.insert(Arc::clone(&one)) {
                continue;
            }
            let above = self.takers(&one);
            if above.is_empty() && self.kustomizations.get(&one).is_some_and(|found| !found.is_component) {
                found.insert(one);
            } else {
                next.extend(above);
            }
        }
        found
    }

    /// The kustomizations that take a file, or the folder of one that is a kustomization itself: as a resource, component or
    /// patch, or into a generator.
    fn takers(&self, file: &str) -> Vec<Arc<str>> {
        let folder = Some(folder_of(file).trim_end_matches('/')).filter(|_| self.kustomizations.contains_key(file));
        let places = [Some(file), folder].into_iter().flatten();
        let used = places.flat_map(|place| [self.users.get(place), self.patching.get(place)]).flatten();
        let generates = |by: &str, one: &Kustomization| one.generators.iter().any(|made| takes(by, made, file));
        let generating = self.kustomizations.iter().filter(|(by, one)| generates(by, one)).map(|(by, _)| by);
        used.flat_map(|users| users.keys()).chain(generating).cloned().collect()
    }

    /// Whether a file is a patch to some kustomization, and a resource to none.
    pub(super) fn is_patch(&self, file: &str) -> bool {
        self.patching.contains_key(file) && !self.users.contains_key(file)
    }

    /// The entries of kustomizations that take a file as a patch: the kustomization, and the number there.
    pub(super) fn taking(&self, file: &str) -> Vec<(Arc<str>, usize)> {
        let of = |by: &Arc<str>| -> Vec<(Arc<str>, usize)> {
            let patches = self.kustomizations.get(by).map(|one| one.patches.as_slice()).unwrap_or_default();
            let is_it =
                |patch: &Patch| matches!(&patch.source, Source::File(path) if relative(folder_of(by), path) == file);
            let numbers = (0..patches.len()).filter(|number| is_it(&patches[*number]));
            numbers.map(|number| (Arc::clone(by), number)).collect()
        };
        self.patching(file).flat_map(of).collect()
    }

    /// Whether a kustomization takes a file as a resource.
    pub(super) fn is_resource(&self, file: &str) -> bool {
        self.users.contains_key(file)
    }

    /// The kustomizations that take a file as a patch.
    pub(super) fn patching(&self, file: &str) -> impl Iterator<Item = &Arc<str>> {
        self.patching.get(file).into_iter().flat_map(|all| all.keys())
    }

    /// The ConfigMaps that kustomizations make of a file, each with a name and namespace as written there.
    pub(super) fn made_into(&self, file: &str) -> Vec<ObjectKey> {
        let of = |(by, one): (&Arc<str>, &Arc<Kustomization>)| -> Vec<ObjectKey> {
            let makes = one.generators.iter().filter(|made| !made.is_secret && takes(by, made, file));
            makes.map(|made| (made.namespace.clone(), made.name.clone())).collect()
        };
        self.kustomizations.iter().flat_map(of).collect()
    }

    /// All kustomizations by file name, in that order.
    pub(super) fn all(&self) -> impl Iterator<Item = (&Arc<str>, &Arc<Kustomization>)> {
        self.kustomizations.iter()
    }

    /// What kustomizations take from the network.
    pub(super) fn remote(&self) -> impl Iterator<Item = (&Arc<str>, &str)> {
        self.kustomizations.iter().flat_map(|(file, one)| one.remote.iter().map(move |path| (file, path.as_str())))
    }

    /// All files and folders that kustomizations name and that lie on this machine.
    pub(super) fn named(&self) -> impl Iterator<Item = &Arc<str>> {
        self.users.keys().chain(self.patching.keys())
    }
}

/// Whether a generator of the kustomization `by` makes an entry of a file.
fn takes(by: &str, made: &Generator, file: &str) -> bool {
    made.entries.iter().any(|(_, content)| match content {
        Content::File(path) => relative(folder_of(by), path) == file,
        Content::Literal(_) => false,
    })
}

fn note(all: &mut RedBlackTreeMapSync<Arc<str>, Set>, path: Arc<str>, user: &Arc<str>, used: bool) {
    let mut users = all.get(&path).cloned().unwrap_or_default();
    match used {
        true => users.insert_mut(Arc::clone(user), ()),
        false => _ = users.remove_mut(user),
    }
    match users.is_empty() {
        true => _ = all.remove_mut(&path),
        false => all.insert_mut(path, users),
    }
}

/// The files that a kustomization takes as patches.
fn patch_files<'k>(file: &'k str, kustomization: &'k Kustomization) -> impl Iterator<Item = Arc<str>> + 'k {
    kustomization.patches.iter().filter_map(move |patch| match &patch.source {
        Source::File(path) => Some(Arc::from(relative(folder_of(file), path))),
        Source::Inline { .. } => None,
    })
}
