//! What the other files of the workspace contribute: Secrets and ConfigMaps that a resource may refer to.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Namespace and name. The namespace is empty where the manifest names none.
pub type ObjectKey = (String, String);

/// The Secrets and ConfigMaps of one file. Of a Secret only the keys are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
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

    /// Takes in the manifest of a Secret or ConfigMap; other kinds add nothing.
    pub(crate) fn add(&mut self, manifest: &Value) {
        if manifest.get("apiVersion").and_then(Value::as_str) != Some("v1") {
            return;
        }
        let metadata = |field: &str| {
            let text = manifest.get("metadata").and_then(|metadata| metadata.get(field)).and_then(Value::as_str);
            text.unwrap_or_default().to_owned()
        };
        let key = (metadata("namespace"), metadata("name"));
        if key.1.is_empty() {
            return;
        }
        let entries = |field: &str| manifest.get(field).and_then(Value::as_object).into_iter().flatten();
        match manifest.get("kind").and_then(Value::as_str) {
            Some("Secret") => {
                let keys = entries("data").chain(entries("stringData")).map(|(name, _)| name.clone()).collect();
                self.secrets.insert(key, keys);
            }
            Some("ConfigMap") => {
                let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
                let data = entries("data").map(|(name, value)| (name.clone(), text(value))).collect();
                self.config_maps.insert(key, data);
            }
            _ => {}
        }
    }

    pub(crate) fn extend(&mut self, other: &Self) {
        self.secrets.extend(other.secrets.iter().map(|(key, keys)| (key.clone(), keys.clone())));
        self.config_maps.extend(other.config_maps.iter().map(|(key, data)| (key.clone(), data.clone())));
    }

    fn names(&self) -> impl Iterator<Item = &String> {
        self.secrets.keys().chain(self.config_maps.keys()).map(|(_, name)| name)
    }
}

/// The objects of all known files but the one being analysed. Cheap to clone; a changed file replaces its entry.
#[derive(Clone, Debug, Default)]
pub struct Workspace(Arc<Files>);

#[derive(Clone, Debug, Default)]
struct Files {
    objects: BTreeMap<String, Arc<Objects>>,
    /// Object names, each with the files that have one.
    by_name: BTreeMap<String, BTreeSet<String>>,
}

impl Workspace {
    /// Nothing known beyond the file itself.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets what `file` contributes. Empty objects remove the entry.
    pub fn set(&mut self, file: &str, objects: Arc<Objects>) {
        if self.get(file).map_or(objects.is_empty(), |known| *known == objects) {
            return;
        }
        let files = Arc::make_mut(&mut self.0);
        files.forget(file);
        if objects.is_empty() {
            return;
        }
        for name in objects.names() {
            files.by_name.entry(name.clone()).or_default().insert(file.to_owned());
        }
        files.objects.insert(file.to_owned(), objects);
    }

    /// Forgets `file`.
    pub fn remove(&mut self, file: &str) {
        if self.0.objects.contains_key(file) {
            Arc::make_mut(&mut self.0).forget(file);
        }
    }

    /// What `file` contributes, if anything.
    #[must_use]
    pub fn get(&self, file: &str) -> Option<&Arc<Objects>> {
        self.0.objects.get(file)
    }

    /// The objects of every file, in the order of file names.
    pub fn objects(&self) -> impl Iterator<Item = &Objects> {
        self.0.objects.values().map(AsRef::as_ref)
    }

    /// The files that have an object called `name`.
    pub(crate) fn with_name(&self, name: &str) -> impl Iterator<Item = &Objects> {
        let files = self.0.by_name.get(name).into_iter().flatten();
        files.filter_map(|file| self.0.objects.get(file)).map(AsRef::as_ref)
    }

    /// Whether both are the same snapshot.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Files {
    fn forget(&mut self, file: &str) {
        let Some(old) = self.objects.remove(file) else { return };
        for name in old.names() {
            if let Some(files) = self.by_name.get_mut(name) {
                files.remove(file);
                if files.is_empty() {
                    self.by_name.remove(name);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn secret(name: &str) -> Arc<Objects> {
        let mut objects = Objects::default();
        objects.add(&json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "data": {"k": ""}}));
        Arc::new(objects)
    }

    #[test]
    fn finds_objects_by_name_until_the_file_changes() {
        let mut workspace = Workspace::new();
        workspace.set("a.yaml", secret("one"));
        assert_eq!(workspace.with_name("one").count(), 1);
        let before = workspace.clone();
        workspace.set("a.yaml", secret("one"));
        assert!(workspace.is(&before), "nothing changed");
        workspace.set("a.yaml", secret("two"));
        assert_eq!(workspace.with_name("one").count(), 0);
        assert_eq!(before.with_name("one").count(), 1, "a snapshot does not change");
        workspace.remove("a.yaml");
        assert_eq!(workspace.objects().count(), 0);
    }
}
