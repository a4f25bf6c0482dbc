//! A config while it is rewritten: its value, the edits so far, and where each of its places is by now.

use super::Difference;
use crate::check::finding::FixEdit;
use crate::fold::Class;
use crate::path::{Path, Segment};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// A config while it is rewritten. Edits follow each other: each sees what those before it left.
pub(super) struct Draft {
    pub(super) value: Value,
    pub(super) edits: Vec<FixEdit>,
    pub(super) differences: Vec<Difference>,
    pub(super) notes: Vec<String>,
    /// Every place of the config as it was, and where it is now; `None` where it is gone or was rewritten.
    places: Vec<(Path, Option<Path>)>,
}

impl Draft {
    pub(super) fn new(value: &Value) -> Self {
        let mut places = Vec::new();
        collect(value, &Path::root(), &mut places);
        Self { value: value.clone(), edits: Vec::new(), differences: Vec::new(), notes: Vec::new(), places }
    }

    pub(super) fn get(&self, path: &Path) -> Option<&Value> {
        path.find(&self.value)
    }

    /// The keys of the mapping at `path`; none where there is no mapping.
    pub(super) fn keys(&self, path: &Path) -> Vec<String> {
        self.get(path).and_then(Value::as_object).into_iter().flatten().map(|(name, _)| name.clone()).collect()
    }

    /// The number of items of the list at `path`.
    pub(super) fn count(&self, path: &Path) -> usize {
        self.get(path).and_then(Value::as_array).map_or(0, Vec::len)
    }

    /// Where something stood before the first edit; where it stands now if it was not there.
    pub(super) fn before(&self, now: &Path) -> Path {
        let old = self.places.iter().find(|(_, place)| place.as_ref() == Some(now));
        old.map_or_else(|| now.clone(), |(old, _)| old.clone())
    }

    /// Where places are now that stood somewhere before the first edit; without those that are gone.
    pub(super) fn now(&self, before: &BTreeSet<Path>) -> BTreeSet<Path> {
        self.places.iter().filter(|(old, _)| before.contains(old)).filter_map(|(_, now)| now.clone()).collect()
    }

    pub(super) fn tell(&mut self, class: Class, now: &Path, message: impl Into<String>) {
        let difference = Difference { class, path: self.before(now), message: message.into() };
        if !self.differences.contains(&difference) {
            self.differences.push(difference);
        }
    }

    /// Says what was done without changing what the config means.
    pub(super) fn note(&mut self, now: &Path, message: impl std::fmt::Display) {
        self.notes.push(format!("{}: {message}", self.before(now)));
    }

    pub(super) fn rename(&mut self, path: &Path, to: &str) {
        self.make(FixEdit::RenameKey { path: path.clone(), to: to.to_owned() });
    }

    pub(super) fn replace(&mut self, path: &Path, value: impl Into<Value>) {
        self.make(FixEdit::Replace { path: path.clone(), value: value.into() });
    }

    pub(super) fn insert(&mut self, path: &Path, value: Value) {
        self.make(FixEdit::Insert { path: path.clone(), value });
    }

    /// Moves an entry; a change of its key alone renames it.
    pub(super) fn move_to(&mut self, from: &Path, to: &Path) {
        match to.last() {
            Some(Segment::Key(name)) if from.parent() == to.parent() => self.rename(from, &name.clone()),
            _ => self.make(FixEdit::Move { from: from.clone(), to: to.clone() }),
        }
    }

    /// Removes an entry or item; with the last item of a list the list goes.
    pub(super) fn remove(&mut self, path: &Path) {
        let list = path.parent().filter(|_| matches!(path.last(), Some(Segment::Index(_))));
        let emptied = list.filter(|list| self.count(list) == 1 && matches!(list.last(), Some(Segment::Key(_))));
        self.make(FixEdit::Remove { path: emptied.unwrap_or_else(|| path.clone()) });
    }

    /// The scalars that the config still has with the same value: where each was, and where it is.
    pub(super) fn kept(&self, before: &Value) -> Vec<(Path, Path)> {
        let same = |(old, now): &(Path, Option<Path>)| {
            let now = now.clone()?;
            let value = old.find(before)?;
            let is_scalar = !value.is_object() && !value.is_array();
            (is_scalar && now.find(&self.value) == Some(value)).then(|| (old.clone(), now))
        };
        self.places.iter().filter_map(same).collect()
    }

    fn make(&mut self, edit: FixEdit) {
        match &edit {
            FixEdit::RenameKey { path, to } => {
                let Some(new) = path.parent().map(|parent| parent.key(to.as_str())) else { return };
                let (Some(parent), Some(Segment::Key(old))) = (path.parent(), path.last()) else { return };
                let Some(Value::Object(entries)) = find_mut(&mut self.value, &parent) else { return };
                // In its place: the order of the text stays.
                *entries = std::mem::take(entries)
                    .into_iter()
                    .map(|(name, value)| if name == *old { (to.clone(), value) } else { (name, value) })
                    .collect();
                self.follow(|place| Some(rebased(place, path, &new)));
            }
            FixEdit::Replace { path, value } => {
                if let Some(place) = find_mut(&mut self.value, path) {
                    *place = value.clone();
                }
                self.follow(|place| (place == path || !place.starts_with(path)).then(|| place.clone()));
            }
            FixEdit::Remove { path } => {
                taken(&mut self.value, path);
                self.forget(path);
            }
            FixEdit::Insert { path, value } => put(&mut self.value, path, value.clone()),
            FixEdit::Move { from, to } => {
                let Some(value) = taken(&mut self.value, from) else { return };
                let emptied = from.parent().filter(|parent| {
                    !to.starts_with(parent)
                        && parent.segments().len() > 1
                        && matches!(parent.last(), Some(Segment::Key(_)))
                        && self.get(parent).and_then(Value::as_object).is_some_and(Map::is_empty)
                });
                if let Some(parent) = emptied {
                    taken(&mut self.value, &parent);
                }
                put(&mut self.value, to, value);
                self.follow(|place| Some(rebased(place, from, to)));
            }
            FixEdit::Quote { .. } => {}
        }
        self.edits.push(edit);
    }

    fn follow(&mut self, now: impl Fn(&Path) -> Option<Path>) {
        for (_, place) in &mut self.places {
            *place = place.as_ref().and_then(&now);
        }
    }

    fn forget(&mut self, path: &Path) {
        let depth = path.segments().len() - 1;
        self.follow(|place| {
            if place.starts_with(path) {
                return None;
            }
            let mut segments = place.segments().to_vec();
            if let (Some(Segment::Index(gone)), Some(parent)) = (path.last(), path.parent())
                && place.starts_with(&parent)
                && let Some(Segment::Index(at)) = segments.get_mut(depth)
                && *at > *gone
            {
                *at -= 1;
            }
            Some(segments.into_iter().collect())
        });
    }
}

fn collect(value: &Value, path: &Path, places: &mut Vec<(Path, Option<Path>)>) {
    places.push((path.clone(), Some(path.clone())));
    match value {
        Value::Object(entries) => {
            entries.iter().for_each(|(name, value)| collect(value, &path.key(name.as_str()), places))
        }
        Value::Array(items) => items.iter().enumerate().for_each(|(at, item)| collect(item, &path.index(at), places)),
        _ => {}
    }
}

/// The place that something has once `from` is `to`.
fn rebased(place: &Path, from: &Path, to: &Path) -> Path {
    if !place.starts_with(from) {
        return place.clone();
    }
    to.segments().iter().chain(&place.segments()[from.segments().len()..]).cloned().collect()
}

fn find_mut<'v>(root: &'v mut Value, path: &Path) -> Option<&'v mut Value> {
    path.segments().iter().try_fold(root, |value, segment| match segment {
        Segment::Key(name) => value.get_mut(name.as_str()),
        Segment::Index(at) => value.get_mut(*at),
    })
}

fn taken(root: &mut Value, path: &Path) -> Option<Value> {
    match (path.last()?, find_mut(root, &path.parent()?)?) {
        (Segment::Key(name), Value::Object(entries)) => entries.shift_remove(name),
        (Segment::Index(at), Value::Array(items)) if *at < items.len() => Some(items.remove(*at)),
        _ => None,
    }
}

/// Puts a value at a place; mappings on the way are made.
fn put(root: &mut Value, path: &Path, value: Value) {
    let Some((last, parents)) = path.segments().split_last() else { return };
    let mut place = root;
    for segment in parents {
        let next = match segment {
            Segment::Key(name) => {
                if place.is_null() {
                    *place = Value::Object(Map::new());
                }
                place.as_object_mut().map(|entries| entries.entry(name.clone()).or_insert(Value::Null))
            }
            Segment::Index(at) => place.get_mut(*at),
        };
        let Some(next) = next else { return };
        place = next;
    }
    match last {
        Segment::Key(name) => {
            if place.is_null() {
                *place = Value::Object(Map::new());
            }
            if let Some(entries) = place.as_object_mut() {
                entries.insert(name.clone(), value);
            }
        }
        Segment::Index(_) => {
            if place.is_null() {
                *place = Value::Array(Vec::new());
            }
            if let Some(items) = place.as_array_mut() {
                items.push(value);
            }
        }
    }
}
