//! Which files are applied to a cluster together, as far as their kustomizations tell, and which resources then stand in
//! each other's way.
//!
//! Two files with a resource of the same namespace and name are rarely a mistake: overlays patch a base, folders of
//! environments repeat each other, examples come in several versions, and somebody keeps a copy. So it is told where a
//! kustomization lists both under `resources`: whoever applies the one applies the other.
//!
//! Everything is kept by name, so that a question costs the same however many files there are.

use super::file_names::{folder_of, from_folder, last_part, relative};
use super::objects::{ObjectKey, Objects};
use llsd_generator::check::facts::Namesake;
use llsd_generator::kustomize::FILE_NAMES;
use rpds::RedBlackTreeMapSync;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

type Set<T> = RedBlackTreeMapSync<T, ()>;

/// In how many pieces each file has something.
type FileCounts = RedBlackTreeMapSync<Arc<str>, u32>;

/// The resources and kustomizations of all files. Cheap to clone and to change.
#[derive(Clone, Debug, Default)]
pub(super) struct Applied {
    resources: RedBlackTreeMapSync<ObjectKey, FileCounts>,
    /// The files that each kustomization lists.
    lists: RedBlackTreeMapSync<Arc<str>, Set<Arc<str>>>,
    /// The kustomizations that list each file.
    listed: RedBlackTreeMapSync<Arc<str>, Set<Arc<str>>>,
}

/// What [`Applied::set`] found out: whose verdicts may be others now.
#[derive(Debug, Default)]
pub(super) struct Invalidated {
    /// Names of resources in whatever file.
    pub(super) names: HashSet<String>,
    /// Files of which every resource is concerned.
    pub(super) files: HashSet<Arc<str>>,
}

impl Applied {
    /// Takes in that `file` has the pieces `added` in place of `removed`.
    pub(super) fn set(&mut self, file: &Arc<str>, removed: &[Arc<Objects>], added: &[Arc<Objects>]) -> Invalidated {
        let mut invalidated = Invalidated::default();
        self.set_resources(file, removed, added, &mut invalidated);
        if FILE_NAMES.contains(&last_part(file)) {
            self.set_kustomization(file, removed, added, &mut invalidated);
        }
        invalidated
    }

    fn set_resources(
        &mut self,
        file: &Arc<str>,
        removed: &[Arc<Objects>],
        added: &[Arc<Objects>],
        invalidated: &mut Invalidated,
    ) {
        let mut difference: BTreeMap<&ObjectKey, i64> = BTreeMap::new();
        for (pieces, by) in [(added, 1), (removed, -1)] {
            let keys = pieces.iter().flat_map(|piece| &piece.resources).map(|(key, _)| key);
            keys.for_each(|key| *difference.entry(key).or_default() += by);
        }
        for (key, count) in difference.into_iter().filter(|(_, count)| *count != 0) {
            // other files may well have the name: they are concerned only where a kustomization joins them
            if self.is_listed(file) {
                invalidated.names.insert(key.1.clone());
            }
            self.count_up(key, file, count);
        }
    }

    fn count_up(&mut self, key: &ObjectKey, file: &Arc<str>, by: i64) {
        let mut files = self.resources.get(key).cloned().unwrap_or_default();
        let count = i64::from(files.get(file).copied().unwrap_or_default()) + by;
        match u32::try_from(count).unwrap_or_default() {
            0 => _ = files.remove_mut(file),
            count => files.insert_mut(Arc::clone(file), count),
        }
        match files.is_empty() {
            true => _ = self.resources.remove_mut(key),
            false => self.resources.insert_mut(key.clone(), files),
        }
    }

    fn set_kustomization(
        &mut self,
        file: &Arc<str>,
        removed: &[Arc<Objects>],
        added: &[Arc<Objects>],
        invalidated: &mut Invalidated,
    ) {
        let new = added.iter().rev().find_map(|piece| piece.lists.as_ref());
        // those of an edit inside of a document that lists the same
        if removed.iter().rev().find_map(|piece| piece.lists.as_ref()) == new {
            return;
        }
        let folder = folder_of(file);
        let paths = |all: &Vec<String>| all.iter().map(|path| (Arc::from(relative(folder, path)), ())).collect();
        invalidated.files.extend(self.set_list(file, new.map(paths)));
    }

    /// Returns the files that are listed now and were not, or the other way round.
    fn set_list(&mut self, kustomization: &Arc<str>, new: Option<Set<Arc<str>>>) -> Vec<Arc<str>> {
        let old = self.lists.get(kustomization).cloned().unwrap_or_default();
        let now = new.clone().unwrap_or_default();
        let left: Vec<_> = old.keys().filter(|file| !now.contains_key(*file)).cloned().collect();
        let added: Vec<_> = now.keys().filter(|file| !old.contains_key(*file)).cloned().collect();
        for file in &left {
            let mut by = self.listed.get(file).cloned().unwrap_or_default();
            by.remove_mut(kustomization);
            match by.is_empty() {
                true => _ = self.listed.remove_mut(file),
                false => self.listed.insert_mut(Arc::clone(file), by),
            }
        }
        for file in &added {
            let mut by = self.listed.get(file).cloned().unwrap_or_default();
            by.insert_mut(Arc::clone(kustomization), ());
            self.listed.insert_mut(Arc::clone(file), by);
        }
        match new {
            Some(new) => self.lists.insert_mut(Arc::clone(kustomization), new),
            None => _ = self.lists.remove_mut(kustomization),
        }
        left.into_iter().chain(added).collect()
    }

    /// The names of all kustomization files, in the order of their names.
    pub(super) fn kustomizations(&self) -> impl Iterator<Item = &Arc<str>> {
        self.lists.keys()
    }

    /// Whether a kustomization lists the file.
    pub(super) fn is_listed(&self, file: &str) -> bool {
        self.listed.contains_key(file)
    }

    /// Another file with a resource of this namespace and name that a kustomization lists together with `file`, whatever
    /// the version: in the cluster they are one.
    pub(super) fn namesake(&self, file: &str, key: &ObjectKey) -> Option<Namesake> {
        let having = self.resources.get(key)?;
        for kustomization in self.listed.get(file)?.keys() {
            let Some(list) = self.lists.get(kustomization) else { continue };
            let other = |other: &&Arc<str>| ***other != *file;
            let found = if list.size() < having.size() {
                list.keys().filter(other).find(|other| having.contains_key(*other))
            } else {
                having.keys().filter(other).find(|other| list.contains_key(*other))
            };
            if let Some(found) = found {
                let shown = from_folder(folder_of(kustomization), found);
                let kustomization = last_part(kustomization).to_owned();
                return Some(Namesake { file: found.to_string(), shown, kustomization });
            }
        }
        None
    }
}

#[cfg(test)]
mod tests;
