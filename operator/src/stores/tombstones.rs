//! What was deleted a moment ago. An answer to a request may be handled after the event of the deletion that followed it,
//! and must not bring the object back: nothing would ever tell that it is not there.

use std::collections::HashMap;
use std::hash::Hash;

/// So many are remembered; then all are forgotten. An answer is late by less than that.
const REMEMBERED: usize = 4096;

/// The versions at which objects went.
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
    /// The object went as this version.
    pub(super) fn note(&mut self, key: K, version: u128) {
        if self.versions.len() >= REMEMBERED {
            self.versions.clear();
        }
        self.versions.insert(key, version);
    }

    /// Whether this state of the object is of before it went. One of after that is another object, or the same with the
    /// operator's label again: what went is forgotten then.
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
