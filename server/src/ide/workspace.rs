//! What the other files of the workspace contribute: Secrets and ConfigMaps that a resource may refer to.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Namespace and name. The namespace is empty where the manifest names none.
pub type ObjectKey = (String, String);

/// The Secrets and ConfigMaps of one file. Of a Secret only the keys are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Objects {
    /// Keys of each Secret.
    pub secrets: BTreeMap<ObjectKey, BTreeSet<String>>,
    /// Contents of each ConfigMap.
    pub config_maps: BTreeMap<ObjectKey, BTreeMap<String, String>>,
}

impl Objects {
    /// Whether there is nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.secrets.is_empty() && self.config_maps.is_empty()
    }
}

/// The objects of all known files but the one being analysed. Cheap to clone; a changed file replaces its entry.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    files: BTreeMap<String, Arc<Objects>>,
}

impl Workspace {
    /// Nothing known beyond the file itself.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets what `file` contributes. Empty objects remove the entry.
    pub fn set(&mut self, file: &str, objects: Arc<Objects>) {
        if objects.is_empty() {
            self.files.remove(file);
        } else {
            self.files.insert(file.to_owned(), objects);
        }
    }

    /// Forgets `file`.
    pub fn remove(&mut self, file: &str) {
        self.files.remove(file);
    }

    /// What `file` contributes, if anything.
    #[must_use]
    pub fn get(&self, file: &str) -> Option<&Arc<Objects>> {
        self.files.get(file)
    }

    /// The objects of every file, in the order of file names.
    pub fn objects(&self) -> impl Iterator<Item = &Objects> {
        self.files.values().map(AsRef::as_ref)
    }
}
