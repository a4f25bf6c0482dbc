//! What was deleted a moment ago. An answer to a request may be handled after the event of the deletion that followed it,
//! and must not bring the object back: nothing would ever tell that it is not there.

use std::collections::HashMap;
use std::hash::Hash;

/// Deletions that are remembered; with one more, all are forgotten. Answers that are handled late are late by far fewer
/// events than that.
const REMEMBERED: usize = 4096;

/// The resource versions at which objects were deleted.
#[derive(Debug)]
pub(super) struct Tombstones<K> {
    versions: HashMap<K, u128>,
}

impl<K> Default for Tombstones<K> {
    fn default() -> Self {
        Self { versions: HashMap::new() }
    }
}

impl<K: Eq + Hash> Tombstones<K> {
    /// Remembers that the object was deleted at this resource version.
    pub(super) fn note(&mut self, key: K, version: u128) {
        if self.versions.len() >= REMEMBERED {
            self.versions.clear();
        }
        self.versions.insert(key, version);
    }

    /// Whether this state of the object is older than its deletion. A newer state is another object of the name, or the
    /// same object that got the operator's label back: the deletion is forgotten then.
    pub(super) fn is_stale(&mut self, key: &K, version: u128) -> bool {
        match self.versions.get(key) {
            Some(gone) if version < *gone => true,
            Some(_) => {
                self.versions.remove(key);
                false
            }
            None => false,
        }
    }
}
