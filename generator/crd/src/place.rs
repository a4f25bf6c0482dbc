//! Where the walk through an object is: its path, and what is not known at and below it.

use crate::path::{Path, Segment};
use std::collections::BTreeSet;
use std::ops::Bound;

/// The path of the value at hand, and the places whose value is not known.
pub(crate) struct WalkPosition<'u> {
    path: Path,
    unknown: &'u BTreeSet<Path>,
}

impl<'u> WalkPosition<'u> {
    pub(crate) fn root(unknown: &'u BTreeSet<Path>) -> Self {
        Self { path: Path::root(), unknown }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// All places whose value is not known.
    pub(crate) fn unknown(&self) -> &BTreeSet<Path> {
        self.unknown
    }

    pub(crate) fn is_root(&self) -> bool {
        self.path.segments().is_empty()
    }

    /// Whether the value here is not known.
    pub(crate) fn is_unknown(&self) -> bool {
        !self.unknown.is_empty() && self.unknown.contains(&self.path)
    }

    /// Whether the value of the entry `key` is not known.
    pub(crate) fn is_unknown_key(&self, key: &str) -> bool {
        !self.unknown.is_empty() && self.unknown.contains(&self.path.key(key))
    }

    /// Whether something here or further inside is not known.
    pub(crate) fn has_unknown(&self) -> bool {
        // Paths sort by their steps, so those below this one follow it directly.
        let from = (Bound::Included(&self.path), Bound::Unbounded);
        self.unknown.range::<Path, _>(from).next().is_some_and(|path| path.starts_with(&self.path))
    }

    /// Runs `inside` one entry further in.
    pub(crate) fn in_key<R>(&mut self, key: &str, inside: impl FnOnce(&mut Self) -> R) -> R {
        self.path.push(Segment::Key(key.to_owned()));
        let result = inside(self);
        self.path.pop();
        result
    }

    /// Runs `inside` one item further in.
    pub(crate) fn in_index<R>(&mut self, position: usize, inside: impl FnOnce(&mut Self) -> R) -> R {
        self.path.push(Segment::Index(position));
        let result = inside(self);
        self.path.pop();
        result
    }
}
