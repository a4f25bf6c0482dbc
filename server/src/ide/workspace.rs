//! What the other files of the workspace contribute: Secrets and ConfigMaps that a resource may refer to, and resources
//! whose names may be taken twice.

mod charts;

use super::applied::Applied;
use super::changed::Changed;
use super::cluster::Cluster;
use super::delta;
use super::file_names::{folder_of, relative, way};
use super::objects::{Manifest, ObjectKey, Objects, Pieces};
use super::overlay::{Apart, Builder, Group, Grouping, Made, Overlays};
use llsd_generator::check::ReferenceKind;
use llsd_generator::check::facts::{GivenBases, Namesake};
use llsd_generator::check::part::Part;
use llsd_generator::config::mounting::Mount;
use llsd_generator::kustomize::{Behavior, Generator, Kustomization};
use rpds::RedBlackTreeMapSync;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// In place of a name: what kustomizations and charts make of files that say nothing of it themselves. No object is called
/// so.
pub(crate) const FILES: &str = "\0files";
/// What somebody says of distributions that do not tell it themselves.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Assumed {
    /// The llama-stack version of images that do not tell theirs.
    pub version: Option<Arc<str>>,
    /// Base configs that somebody named.
    pub bases: Arc<GivenBases>,
}

impl From<Option<&str>> for Assumed {
    fn from(version: Option<&str>) -> Self {
        Self { version: version.map(Arc::from), ..Self::default() }
    }
}

/// How many changes are remembered by name. Who looks less often has to look at everything.
const REMEMBERED: usize = 64;

/// The objects of all known files, as of one moment. Cheap to clone and to change: versions share what is the same.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    files: RedBlackTreeMapSync<Arc<str>, Pieces>,
    /// Object names, each with the files that have one.
    by_name: RedBlackTreeMapSync<Arc<str>, RedBlackTreeMapSync<Arc<str>, Pieces>>,
    /// Which resources and kustomizations the files have, and which are applied together.
    applied: Arc<Applied>,
    /// What kustomizations make of the files.
    overlays: Arc<Overlays>,
    /// No two different states have the same number; 0 is the empty one.
    state: u64,
    recent: Arc<Vec<Change>>,
    /// Whose objects are left out.
    except: Option<Arc<str>>,
    /// What is assumed of distributions that do not tell it.
    assumed: Assumed,
    /// What is there in the cluster, where that is known.
    cluster: Option<Arc<Cluster>>,
}

#[derive(Clone, Debug)]
struct Change {
    /// The number of the state before the change.
    before: u64,
    /// The names that it concerned.
    names: Arc<HashSet<String>>,
}

impl Workspace {
    /// Nothing known beyond the file itself.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same without the objects of `file`: what that file sees.
    #[must_use]
    pub fn seen_by(&self, file: &str) -> Self {
        Self { except: Some(Arc::from(file)), ..self.clone() }
    }

    /// The same, with what is assumed of distributions that do not tell it.
    #[must_use]
    pub fn assuming(self, assumed: impl Into<Assumed>) -> Self {
        Self { assumed: assumed.into(), ..self }
    }

    /// The llama-stack version of images that do not tell theirs.
    pub(crate) fn assumed_version(&self) -> Option<&str> {
        self.assumed.version.as_deref()
    }

    /// Base configs that somebody named.
    pub(crate) fn bases(&self) -> &Arc<GivenBases> {
        &self.assumed.bases
    }

    /// Sets what the cluster contributes; `None`: it is not known. True: that is something else than before.
    pub fn set_cluster(&mut self, cluster: Option<Cluster>) -> bool {
        if self.cluster.as_deref() == cluster.as_ref() {
            return false;
        }
        self.cluster = cluster.map(Arc::new);
        true
    }

    /// What is there in the cluster, where that is known.
    pub(crate) fn cluster(&self) -> Option<&Cluster> {
        self.cluster.as_deref()
    }

    /// Sets what `file` contributes; no pieces remove it. Returns the names about which that said something new.
    pub fn set(&mut self, file: &str, objects: Pieces) -> Arc<HashSet<String>> {
        let old = self.files.get(file).cloned().unwrap_or_default();
        let (before, after) = delta::differing(&old, &objects);
        let (removed, added) = (without(before, after), without(after, before));
        let mut names = differing(&removed, &added);
        let file: Arc<str> = Arc::from(file);
        let invalidated = Arc::make_mut(&mut self.applied).set(&file, &removed, &added);
        names.extend(invalidated.names);
        let patches = Arc::make_mut(&mut self.overlays).set(&file, &removed, &objects);
        let concerned = invalidated.files.iter().chain(&patches).filter_map(|file| self.files.get(file));
        for piece in concerned.flat_map(|pieces| pieces.iter()) {
            names.extend(piece.resources.iter().map(|((_, name), _)| name.clone()));
            names.extend(piece.patched.iter().cloned());
        }
        if removed.iter().chain(&added).any(|piece| piece.makes_of_files()) || charts::differ(&removed, &added) {
            names.insert(FILES.to_owned());
        }
        let names = Arc::new(names);
        let touched: BTreeSet<&String> = removed.iter().chain(&added).flat_map(|piece| piece.known_by()).collect();
        for name in touched {
            let having: Pieces = objects.iter().filter(|piece| piece.has(name)).cloned().collect();
            let mut of_name = self.by_name.get(name.as_str()).cloned().unwrap_or_default();
            if having.is_empty() {
                of_name.remove_mut(&file);
            } else {
                of_name.insert_mut(Arc::clone(&file), having);
            }
            if of_name.is_empty() {
                self.by_name.remove_mut(name.as_str());
            } else {
                self.by_name.insert_mut(Arc::from(name.as_str()), of_name);
            }
        }
        if objects.iter().all(|piece| piece.is_empty()) {
            self.files.remove_mut(&file);
        } else {
            self.files.insert_mut(file, objects);
        }
        if !names.is_empty() {
            static STATES: AtomicU64 = AtomicU64::new(1);
            let kept = &self.recent[self.recent.len().saturating_sub(REMEMBERED - 1)..];
            let change = Change { before: self.state, names: Arc::clone(&names) };
            self.recent = Arc::new(kept.iter().cloned().chain([change]).collect());
            self.state = STATES.fetch_add(1, Ordering::Relaxed);
        }
        names
    }

    /// The ConfigMaps that kustomizations make of the file of the one who asks.
    pub(crate) fn made_into(&self) -> Vec<ObjectKey> {
        self.except.as_deref().map(|file| self.overlays.made_into(file)).unwrap_or_default()
    }

    /// The way to the kustomization that lists the file of the one who asks, and puts a hash behind the name of an object that it makes.
    /// `None` too where some kustomization may tell kustomize of references in resources of other kinds than its own.
    pub(crate) fn hashing(&self, kind: ReferenceKind, name: &str) -> Option<String> {
        let file = self.except.as_deref()?;
        let is_it = |one: &Generator| {
            let is_kind = one.is_secret == (kind == ReferenceKind::Secret);
            one.has_hash && is_kind && one.name == name && one.behavior == Behavior::Create
        };
        let lists = |by: &str, path: &String| *relative(folder_of(by), path) == *file;
        let mut all = self.overlays.all();
        let found = all
            .find(|(by, made)| made.generators.iter().any(is_it) && made.resources.iter().any(|path| lists(by, path)));
        let (by, _) = found.filter(|_| !self.overlays.all().any(|(_, one)| one.is_opaque))?;
        Some(way(folder_of(file), by))
    }

    /// The names of all kustomization files, in the order of their names.
    pub(crate) fn kustomizations(&self) -> impl Iterator<Item = &Arc<str>> {
        self.applied.kustomizations()
    }

    /// What patch number `number` of the kustomization in the asking file is merged into.
    pub(crate) fn part_within(&self, own: &Kustomization, number: usize, manifest: &Manifest) -> Option<Part> {
        Some(Builder::new(&self.overlays, &self.files).within(self.except.as_deref()?, own, number, manifest))
    }

    /// What the file of the one who asks is to kustomizations, if it is a patch: `patch` is what it says now.
    pub(crate) fn part(&self, patch: &Manifest) -> Option<Part> {
        let file = self.except.as_deref().filter(|file| self.overlays.is_patch(file))?;
        Some(Builder::new(&self.overlays, &self.files).part(file, patch))
    }

    /// What the resources that a kustomization puts together are made of, as far as the files at hand tell.
    #[must_use]
    pub fn made(&self, kustomization: &str) -> Vec<Made> {
        Builder::new(&self.overlays, &self.files).made(kustomization)
    }

    /// Whether what a file has cannot be rewritten alone: it is a patch, kustomizations patch it, or do what is not
    /// followed here.
    #[must_use]
    pub fn is_bound(&self, file: &str) -> bool {
        let is_bound = |(by, kustomization): (&Arc<str>, &Arc<Kustomization>)| {
            let made = Builder::lenient(&self.overlays, &self.files).made(by);
            let own = |made: &Made| made.comes_from(|first| **first == *file);
            made.iter().any(|made| own(made) && (made.writers.len() > 1 || kustomization.is_opaque))
        };
        self.is_patch(file) || self.overlays.is_resource(file) && self.overlays.all().any(is_bound)
    }

    /// What has to be rewritten together with what a file has.
    ///
    /// # Errors
    /// The kustomization that makes it impossible, and why.
    pub(in crate::ide) fn group(&self, file: &str) -> Result<Group, (Arc<str>, Apart)> {
        Grouping { overlays: &self.overlays, files: &self.files }.of(file)
    }

    /// The files of all kustomizations.
    pub(crate) fn built_by(&self) -> Vec<Arc<str>> {
        self.overlays.all().map(|(file, _)| Arc::clone(file)).collect()
    }

    /// The resources of ours that a kustomization puts together. `None`: kustomize would stop at a patch, or there is
    /// more than is followed.
    pub(crate) fn followed(&self, kustomization: &str) -> Option<Vec<Made>> {
        let builder = Builder::new(&self.overlays, &self.files);
        let made = builder.made(kustomization);
        (!builder.is_stopped() && !builder.is_spent()).then_some(made)
    }

    /// The kustomizations that take a file, through others too, and that no other takes: what is built to see what becomes of
    /// the file.
    #[must_use]
    pub fn tops(&self, file: &str) -> BTreeSet<Arc<str>> {
        self.overlays.tops(file)
    }

    /// What the kustomizations at hand take from the network: the file of each, and what it names.
    pub fn remote(&self) -> impl Iterator<Item = (&Arc<str>, &str)> {
        self.overlays.remote()
    }

    /// Whether kustomizations take a file as a patch only.
    #[must_use]
    pub fn is_patch(&self, file: &str) -> bool {
        self.overlays.is_patch(file)
    }

    /// The files and folders, without a slash behind them, that kustomizations take something from and of which nothing
    /// is known. A folder may have a kustomization.
    #[must_use]
    pub fn wanted(&self) -> Vec<Arc<str>> {
        self.overlays.named().filter(|path| !self.knows(path)).cloned().collect()
    }

    fn knows(&self, path: &str) -> bool {
        self.files.contains_key(path) || self.overlays.has_kustomization(path)
    }

    /// Whether a kustomization lists the file.
    pub(crate) fn is_listed(&self, file: &str) -> bool {
        self.applied.is_listed(file)
    }

    /// The names of all files that contribute something.
    pub fn files(&self) -> impl Iterator<Item = &Arc<str>> {
        self.files.keys()
    }

    /// The objects of every file, in the order of file names.
    pub fn objects(&self) -> impl Iterator<Item = &Objects> {
        let seen = self.files.iter().filter(|(file, _)| Some(*file) != self.except.as_ref());
        seen.flat_map(|(_, pieces)| pieces.iter()).map(AsRef::as_ref)
    }

    /// The objects of files that have one called `name`, or mount one.
    pub(crate) fn with_name(&self, name: &str) -> impl Iterator<Item = &Objects> {
        let files = self.by_name.get(name).into_iter().flatten();
        let seen = files.filter(|(file, _)| Some(*file) != self.except.as_ref());
        seen.flat_map(|(_, pieces)| pieces.iter()).map(AsRef::as_ref)
    }

    /// A resource of this namespace and name in another file that is applied together with the one that asks.
    pub(crate) fn namesake(&self, key: &ObjectKey) -> Option<Namesake> {
        self.applied.namesake(self.except.as_deref()?, key)
    }

    /// Whether both know the same.
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.state == other.state && self.same_surroundings(other)
    }

    /// Whether all is the same that concerns every file.
    fn same_surroundings(&self, other: &Self) -> bool {
        let cluster = |workspace: &Self| workspace.cluster.as_ref().map(Arc::as_ptr);
        self.except == other.except && self.assumed == other.assumed && cluster(self) == cluster(other)
    }

    /// The names about which this knows something else than `old`.
    pub(crate) fn changed_since(&self, old: &Self) -> Changed {
        let mut names = HashSet::new();
        if !self.same_surroundings(old) {
            return Changed::All;
        }
        if self.state == old.state {
            return Changed::Names(names);
        }
        for change in self.recent.iter().rev() {
            names.extend(change.names.iter().cloned());
            if change.before == old.state {
                return Changed::Names(names);
            }
        }
        Changed::All
    }
}

/// The pieces of `all` that `others` does not have.
fn without(all: &[Arc<Objects>], others: &[Arc<Objects>]) -> Vec<Arc<Objects>> {
    let known: HashSet<_> = others.iter().map(Arc::as_ptr).collect();
    all.iter().filter(|piece| !known.contains(&Arc::as_ptr(piece))).cloned().collect()
}

/// The names of objects that are not the same on both sides.
fn differing(one: &[Arc<Objects>], other: &[Arc<Objects>]) -> HashSet<String> {
    fn compare<T: PartialEq>(
        one: &[Arc<Objects>],
        other: &[Arc<Objects>],
        of: impl Fn(&Objects) -> &BTreeMap<ObjectKey, T>,
        names: &mut HashSet<String>,
    ) {
        let index =
            |pieces| -> BTreeMap<&ObjectKey, &T> { <[Arc<Objects>]>::iter(pieces).flat_map(|p| of(p)).collect() };
        let (one, other) = (index(one), index(other));
        let differs =
            |(key, value): &(&&ObjectKey, &&T), there: &BTreeMap<&ObjectKey, &T>| there.get(*key) != Some(*value);
        names.extend(one.iter().filter(|entry| differs(entry, &other)).map(|(key, _)| key.1.clone()));
        names.extend(other.iter().filter(|entry| differs(entry, &one)).map(|(key, _)| key.1.clone()));
    }
    let mut names = HashSet::new();
    compare(one, other, |objects| &objects.secrets, &mut names);
    compare(one, other, |objects| &objects.config_maps, &mut names);
    let mounts = |pieces| -> BTreeSet<&Mount> {
        <[Arc<Objects>]>::iter(pieces).flat_map(|piece| &piece.mounts).map(AsRef::as_ref).collect()
    };
    let (one, other) = (mounts(one), mounts(other));
    names.extend(one.symmetric_difference(&other).map(|mount| mount.config_map.1.clone()));
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn secret(name: &str) -> Pieces {
        let mut objects = Objects::default();
        objects.add(&json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "data": {"k": ""}}));
        Arc::from([Arc::new(objects)])
    }

    fn names(changed: Changed) -> Vec<String> {
        let Changed::Names(names) = changed else { panic!("all") };
        let mut names: Vec<_> = names.into_iter().collect();
        names.sort();
        names
    }

    #[test]
    fn finds_objects_by_name_until_the_file_changes() {
        let mut workspace = Workspace::new();
        workspace.set("a.yaml", secret("one"));
        assert_eq!(workspace.with_name("one").count(), 1);
        let before = workspace.clone();
        assert!(workspace.set("a.yaml", secret("one")).is_empty());
        assert!(names(workspace.changed_since(&before)).is_empty(), "nothing changed");
        assert_eq!(workspace.set("a.yaml", secret("two")).len(), 2);
        assert_eq!(names(workspace.changed_since(&before)), ["one", "two"]);
        assert_eq!(workspace.with_name("one").count(), 0);
        assert_eq!(before.with_name("one").count(), 1, "a snapshot does not change");
        workspace.set("a.yaml", Pieces::default());
        assert_eq!(workspace.objects().count(), 0);
    }

    #[test]
    fn a_file_does_not_see_itself() {
        let mut workspace = Workspace::new();
        workspace.set("a", secret("s"));
        workspace.set("b", secret("s"));
        assert_eq!(workspace.with_name("s").count(), 2);
        assert_eq!(workspace.seen_by("a").with_name("s").count(), 1);
        assert_eq!(workspace.seen_by("a").objects().count(), 1);
    }

    #[test]
    fn what_is_too_long_ago_may_be_anything() {
        let mut workspace = Workspace::new();
        let start = workspace.clone();
        for number in 0..REMEMBERED {
            workspace.set("a", secret(&number.to_string()));
        }
        assert_eq!(names(workspace.changed_since(&start)).len(), REMEMBERED);
        workspace.set("a", secret("one more"));
        assert!(matches!(workspace.changed_since(&start), Changed::All));
        let mut other = start.clone();
        other.set("a", secret("elsewhere"));
        assert!(matches!(other.changed_since(&workspace), Changed::All), "not a state it came from");
    }
}
