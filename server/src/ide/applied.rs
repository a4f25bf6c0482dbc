//! Which files are applied to a cluster together, as far as their names and kustomizations tell, and which resources
//! then stand in each other's way.
//!
//! Two files with a resource of the same namespace and name are rarely a mistake: overlays patch a base, folders of
//! environments repeat each other, examples come in several versions, and somebody keeps a copy. So it is told in two
//! cases only:
//!
//! - A kustomization lists both under `resources`: whoever applies the one applies the other.
//! - Both lie in one folder that looks as if `kubectl apply -f FOLDER` were meant for it, see [`Applied::beside`].
//!
//! Everything is kept by name, so that a question costs the same however many files there are.

use super::file_names::{folder_of, from_folder, last_part, relative};
use super::objects::{ObjectKey, Objects};
use llsd_generator::api::ApiVersion;
use llsd_generator::check::facts::Namesake;
use llsd_generator::kustomize::FILE_NAMES;
use rpds::RedBlackTreeMapSync;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// A folder that repeats more names is a collection, of which nobody applies all.
const REPEATED: usize = 16;

/// Folders whose files are alternatives or parts, by their own name or that of the folder above.
const FOLDERS: [&str; 29] = [
    "archive",
    "backup",
    "backups",
    "base",
    "bases",
    "charts",
    "components",
    "demo",
    "demos",
    "doc",
    "docs",
    "e2e",
    "example",
    "examples",
    "fixtures",
    "old",
    "overlays",
    "patches",
    "quickstart",
    "quickstarts",
    "sample",
    "samples",
    "snippets",
    "templates",
    "test",
    "testdata",
    "tests",
    "tutorial",
    "tutorials",
];

/// Words in the name of a file that say what it is in place of another: a copy, an environment, an example, a part.
const WORDS: [&str; 48] = [
    "backup",
    "bak",
    "ci",
    "copy",
    "delta",
    "demo",
    "dev",
    "devel",
    "development",
    "draft",
    "e2e",
    "example",
    "int",
    "integration",
    "lab",
    "local",
    "merge",
    "migrated",
    "new",
    "old",
    "orig",
    "original",
    "overlay",
    "patch",
    "perf",
    "preprod",
    "prod",
    "production",
    "qa",
    "sample",
    "sandbox",
    "save",
    "saved",
    "snippet",
    "stage",
    "staging",
    "stg",
    "template",
    "test",
    "tmp",
    "tpl",
    "uat",
    "v1alpha1",
    "v1alpha2",
    "values",
    "before",
    "after",
    "alternative",
];

type Set<T> = RedBlackTreeMapSync<T, ()>;

/// In how many pieces each file has something.
type FileCounts = RedBlackTreeMapSync<Arc<str>, u32>;

/// The resources and kustomizations of all files. Cheap to clone and to change.
#[derive(Clone, Debug, Default)]
pub(super) struct Applied {
    resources: RedBlackTreeMapSync<ObjectKey, FileCounts>,
    folders: RedBlackTreeMapSync<Arc<str>, Folder>,
    /// The files that each kustomization lists.
    lists: RedBlackTreeMapSync<Arc<str>, Set<Arc<str>>>,
    /// The kustomizations that list each file.
    listed: RedBlackTreeMapSync<Arc<str>, Set<Arc<str>>>,
}

/// What the files of one folder have, those of folders in it aside.
#[derive(Clone, Debug, Default)]
struct Folder {
    resources: RedBlackTreeMapSync<(ObjectKey, ApiVersion), FileCounts>,
    /// Those of the resources that several files have.
    repeated: Set<(ObjectKey, ApiVersion)>,
    kustomizations: Set<Arc<str>>,
    charts: Set<Arc<str>>,
}

impl Folder {
    fn is_empty(&self) -> bool {
        self.resources.is_empty() && self.kustomizations.is_empty() && self.charts.is_empty()
    }
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
        self.set_role(file, removed, added, &mut invalidated);
        invalidated
    }

    fn set_resources(
        &mut self,
        file: &Arc<str>,
        removed: &[Arc<Objects>],
        added: &[Arc<Objects>],
        invalidated: &mut Invalidated,
    ) {
        let mut difference: BTreeMap<&(ObjectKey, ApiVersion), i64> = BTreeMap::new();
        added.iter().flat_map(|piece| &piece.resources).for_each(|one| *difference.entry(one).or_default() += 1);
        removed.iter().flat_map(|piece| &piece.resources).for_each(|one| *difference.entry(one).or_default() -= 1);
        difference.retain(|_, count| *count != 0);
        if difference.is_empty() {
            return;
        }
        let folder_name = folder_of(file);
        let mut folder = self.folders.get(folder_name).cloned().unwrap_or_default();
        let before = folder.repeated.clone();
        let mut turned = false;
        for (resource, count) in difference {
            // files of other folders may well have the name: they are concerned only where a kustomization joins them
            let beside = folder.resources.get(resource);
            let beside = beside.is_some_and(|files| files.size() > usize::from(files.contains_key(file)));
            if beside || self.is_listed(file) {
                invalidated.names.insert(resource.0.1.clone());
            }
            count_up(&mut self.resources, &resource.0, file, count);
            turned |= folder.repeated.contains_key(resource);
            count_up(&mut folder.resources, resource, file, count);
            if folder.resources.get(resource).is_some_and(|files| files.size() > 1) {
                folder.repeated.insert_mut(resource.clone(), ());
                turned = true;
            } else {
                folder.repeated.remove_mut(resource);
            }
        }
        // what else is repeated counts for each of them
        if turned && (before.size() <= REPEATED || folder.repeated.size() <= REPEATED) {
            let all = before.keys().chain(folder.repeated.keys());
            invalidated.names.extend(all.map(|((_, name), _)| name.clone()));
        }
        self.put_folder(folder_name, folder);
    }

    /// What a kustomization lists, and where charts are.
    fn set_role(
        &mut self,
        file: &Arc<str>,
        removed: &[Arc<Objects>],
        added: &[Arc<Objects>],
        invalidated: &mut Invalidated,
    ) {
        let role = |pieces: &[Arc<Objects>]| pieces.iter().any(|piece| piece.lists.is_some() || piece.chart);
        if !role(removed) && !role(added) && !self.lists.contains_key(file) {
            return;
        }
        let (name, folder_name) = (last_part(file), folder_of(file));
        let mut folder = self.folders.get(folder_name).cloned().unwrap_or_default();
        if FILE_NAMES.contains(&name) {
            let new = added.iter().rev().find_map(|piece| piece.lists.as_ref());
            // those of an edit inside of a document that lists the same
            let changed = removed.iter().rev().find_map(|piece| piece.lists.as_ref()) != new;
            if changed {
                let new: Option<Set<Arc<str>>> =
                    new.map(|all| all.iter().map(|path| (Arc::from(relative(folder_name, path)), ())).collect());
                invalidated.files.extend(self.set_list(file, new.clone()));
                match new {
                    Some(_) => folder.kustomizations.insert_mut(Arc::clone(file), ()),
                    None => _ = folder.kustomizations.remove_mut(file),
                }
                invalidated.names.extend(folder.repeated.keys().take(REPEATED + 1).map(|((_, name), _)| name.clone()));
            }
        }
        if name == "Chart.yaml" {
            match added.iter().any(|piece| piece.chart) {
                true => folder.charts.insert_mut(Arc::clone(file), ()),
                false => _ = folder.charts.remove_mut(file),
            }
            let below = self.folders.range(Arc::from(folder_name)..);
            let below = below.take_while(|(other, _)| other.starts_with(folder_name));
            let repeated = below.flat_map(|(_, folder)| folder.repeated.keys().take(REPEATED + 1));
            invalidated.names.extend(repeated.map(|((_, name), _)| name.clone()));
        }
        self.put_folder(folder_name, folder);
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

    fn put_folder(&mut self, name: &str, folder: Folder) {
        match folder.is_empty() {
            true => _ = self.folders.remove_mut(name),
            false => self.folders.insert_mut(Arc::from(name), folder),
        }
    }

    /// The names of all kustomization files, in the order of their names.
    pub(super) fn kustomizations(&self) -> impl Iterator<Item = &Arc<str>> {
        self.lists.keys()
    }

    /// Whether a kustomization lists the file.
    pub(super) fn is_listed(&self, file: &str) -> bool {
        self.listed.contains_key(file)
    }

    /// The files with a resource that another file has too.
    pub(super) fn repeating(&self) -> impl Iterator<Item = &Arc<str>> {
        self.resources.values().filter(|files| files.size() > 1).flat_map(|files| files.keys())
    }

    /// Another file with a resource of this namespace and name that is applied together with `file`.
    pub(super) fn namesake(&self, file: &str, key: &ObjectKey, version: ApiVersion) -> Option<Namesake> {
        self.together(file, key).or_else(|| self.beside(file, key, version))
    }

    /// One that a kustomization lists together with `file`, whatever its version: in the cluster they are one.
    fn together(&self, file: &str, key: &ObjectKey) -> Option<Namesake> {
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
                let by = Some(last_part(kustomization).to_owned());
                return Some(Namesake { file: found.to_string(), shown, kustomization: by });
            }
        }
        None
    }

    /// One in the same folder. Both have to be plain manifests that nothing tells apart: of the same version, in a folder
    /// that is neither put together by kustomize or Helm nor named as a collection of examples or parts, and without a
    /// word in the name of one that makes it a copy or environment of the other. And it has to be the only name that
    /// other files repeat: a folder that does so throughout is a collection, of which nobody applies all.
    fn beside(&self, file: &str, key: &ObjectKey, version: ApiVersion) -> Option<Namesake> {
        let name = folder_of(file);
        let folder = self.folders.get(name)?;
        let wanted = (key.clone(), version);
        let mut others = folder.resources.get(&wanted)?.keys().filter(|other| ***other != *file);
        let other = others.next().filter(|_| others.next().is_none())?;
        let by_others = |resource: &(ObjectKey, ApiVersion)| {
            let files = folder.resources.get(resource);
            *resource != wanted && files.is_some_and(|all| all.size() - usize::from(all.contains_key(file)) > 1)
        };
        let is_collection = folder.repeated.size() > REPEATED || folder.repeated.keys().any(by_others);
        let is_part = |file: &str| self.listed.contains_key(file);
        let built = !folder.kustomizations.is_empty() || self.has_chart(name) || is_part(file) || is_part(other);
        if is_collection || built || is_apart(name) || differ_in_words(last_part(file), last_part(other)) {
            return None;
        }
        Some(Namesake { file: other.to_string(), shown: from_folder(name, other), kustomization: None })
    }

    /// Whether a folder, or one above it, is that of a Helm chart.
    fn has_chart(&self, folder: &str) -> bool {
        let mut at = folder;
        loop {
            if self.folders.get(at).is_some_and(|folder| !folder.charts.is_empty()) {
                return true;
            }
            match folder_of(at.trim_end_matches('/')) {
                "" => return false,
                above if above.len() >= at.len() => return false,
                above => at = above,
            }
        }
    }
}

fn count_up<K: Ord + Clone>(all: &mut RedBlackTreeMapSync<K, FileCounts>, key: &K, file: &Arc<str>, by: i64) {
    let mut files = all.get(key).cloned().unwrap_or_default();
    let count = i64::from(files.get(file).copied().unwrap_or_default()) + by;
    match u32::try_from(count).unwrap_or_default() {
        0 => _ = files.remove_mut(file),
        count => files.insert_mut(Arc::clone(file), count),
    }
    match files.is_empty() {
        true => _ = all.remove_mut(key),
        false => all.insert_mut(key.clone(), files),
    }
}

/// Whether the name of a folder, or of the one above, says that its files are alternatives or parts.
fn is_apart(folder: &str) -> bool {
    let mut parts = folder.trim_end_matches('/').rsplit('/');
    parts.by_ref().take(2).any(|part| FOLDERS.contains(&part.to_ascii_lowercase().as_str()))
}

/// Whether one of two names has a word that makes its file a variant, and the other has not.
fn differ_in_words(one: &str, other: &str) -> bool {
    let words = |name: &str| -> HashSet<String> {
        let lower = name.to_ascii_lowercase().replace("%20", " ");
        let all = lower.split(|char: char| !char.is_ascii_alphanumeric());
        all.filter(|word| WORDS.contains(word)).map(str::to_owned).collect()
    };
    words(one) != words(other)
}

#[cfg(test)]
mod tests;
