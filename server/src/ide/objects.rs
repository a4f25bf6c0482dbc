//! What one file contributes to the others: its Secrets and ConfigMaps, and what tells with which files it is applied.

use llsd_generator::api::{ApiVersion, Kind};
use llsd_generator::chart::Put;
use llsd_generator::check::ReferenceKind;
use llsd_generator::config::mounting::Mount;
use llsd_generator::config::reading::Reading;
use llsd_generator::kustomize::{Content, Generator, Kustomization};
use llsd_generator::ogx::WATCH_LABEL;
use llsd_generator::path::{Path, Segment};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Namespace and name. The namespace is empty where the manifest names none.
pub type ObjectKey = (String, String);

/// The keys of a Secret, each with what the server reads its value as: `None` for a text, and where the value is not known.
pub(super) type SecretKeys = BTreeMap<String, Option<Reading>>;

/// Fields that show that a mapping without `kind` is a kustomization, although it lists no resources.
const PATCHING: [&str; 8] = [
    "bases",
    "components",
    "configMapGenerator",
    "patches",
    "patchesJson6902",
    "patchesStrategicMerge",
    "secretGenerator",
    "transformers",
];

/// The field whose items are objects of their own: `items` of a list, `objects` of an OpenShift `Template`; `None` for a
/// single object. `kubectl` takes everything with a list `items` for a list of objects, whatever its kind; `has_items`
/// says whether there is one.
pub(crate) fn object_list(kind: &str, has_items: bool) -> Option<&'static str> {
    match kind {
        "Template" => Some("objects"),
        kind if Kind::named(kind).is_some() => None,
        _ if has_items || kind.ends_with("List") => Some("items"),
        _ => None,
    }
}

/// The places where objects may stand: the root, or the items of an [`object_list`].
pub(crate) fn roots(value: &Value) -> Vec<Path> {
    let kind = value.get("kind").and_then(Value::as_str).unwrap_or_default();
    let has_items = value.get("items").is_some_and(Value::is_array);
    let Some(list) = object_list(kind, has_items) else { return vec![Path::root()] };
    let items = value.get(list).and_then(Value::as_array).map_or(0, Vec::len);
    (0..items).map(|number| Path::root().with(Segment::Key(list.to_owned())).index(number)).collect()
}

/// An item that tells neither `apiVersion` nor `kind`, with those that its list gives it, as `kubectl` reads it:
/// `kind: SecretList` holds Secrets. `None` where the item is as it is written.
pub(super) fn named_by_list(root: &Value, base: &Path, item: &Value) -> Option<Value> {
    let text = |field: &str| root.get(field).and_then(Value::as_str);
    let kind = text("kind")?.strip_suffix("List").filter(|kind| !kind.is_empty())?;
    let told = |field: &str| item.get(field).is_some_and(|value| value.as_str() != Some(""));
    if base.segments().is_empty() || told("apiVersion") || told("kind") {
        return None;
    }
    let mut named = item.as_object()?.clone();
    named.insert("apiVersion".to_owned(), text("apiVersion").unwrap_or_default().into());
    named.insert("kind".to_owned(), kind.into());
    Some(Value::Object(named))
}

/// A resource or strategic merge patch of ours, or a list of JSON 6902 operations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Manifest {
    /// The object as plain JSON.
    pub(crate) value: Arc<Value>,
    /// Places that a template fills in.
    pub(crate) unknown: BTreeSet<Path>,
}

impl Hash for Manifest {
    /// Adds nothing: what it says is compared where it matters, and a hash would cost as much at every key.
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

/// The Secrets and ConfigMaps of one file, and what tells which files are applied together. Of a Secret only the keys
/// are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Objects {
    /// The keys of each Secret. Values are never kept.
    pub secrets: BTreeMap<ObjectKey, SecretKeys>,
    /// `data` of each ConfigMap.
    pub config_maps: BTreeMap<ObjectKey, BTreeMap<String, String>>,
    /// Those of them that do not carry the label by which ogx's operator sees them.
    pub(crate) unwatched: BTreeSet<(ReferenceKind, ObjectKey)>,
    /// The `LlamaStackDistribution`s whose names are known.
    pub(crate) resources: BTreeSet<(ObjectKey, ApiVersion)>,
    /// The `resources` of a kustomization, as far as this may be one.
    pub(crate) lists: Option<Vec<String>>,
    /// What it says as a kustomization, as far as this may be one.
    pub(crate) kustomization: Option<Arc<Kustomization>>,
    /// The names on which the verdicts on patches in it depend.
    pub(crate) patched: BTreeSet<String>,
    /// The resources of ours, and lists of JSON 6902 operations.
    pub(crate) manifests: Vec<Manifest>,
    /// What its resources say to the ConfigMaps that they mount.
    pub(crate) mounts: Vec<Arc<Mount>>,
    /// What it puts whole into its ConfigMaps, as a template of a Helm chart.
    pub(crate) puts: Vec<Put>,
    /// Whether this looks like the `Chart.yaml` of Helm.
    pub(crate) chart: bool,
}

impl Objects {
    /// Whether the document tells nothing that others could ask for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let applied = self.lists.is_some() || self.kustomization.is_some() || self.chart;
        self.names().next().is_none()
            && self.resources.is_empty()
            && self.manifests.is_empty()
            && self.mounts.is_empty()
            && self.puts.is_empty()
            && !applied
    }

    /// Takes in the manifest of a Secret or ConfigMap; other kinds add nothing.
    pub(crate) fn add(&mut self, manifest: &Value) {
        let text = |field: &str| manifest.get(field).and_then(Value::as_str);
        if matches!(text("kind"), None | Some("Kustomization" | "Component")) {
            let paths = manifest.get("resources").and_then(Value::as_array);
            let paths = paths.map(|all| all.iter().filter_map(Value::as_str).map(str::to_owned).collect());
            // one without a list adds nothing, but its folder is not applied as it is
            let patches = text("kind").is_some() || PATCHING.iter().any(|field| manifest.get(field).is_some());
            self.lists = paths.or_else(|| patches.then(Vec::new));
            self.set_kustomization(manifest);
            self.chart = text("name").is_some() && text("version").is_some() && text("apiVersion").is_some();
        }
        if text("apiVersion") != Some("v1") {
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
        let label = manifest.get("metadata").and_then(|metadata| metadata.get("labels")?.get(WATCH_LABEL)?.as_str());
        let kind = match text("kind") {
            Some("Secret") => Some(ReferenceKind::Secret),
            Some("ConfigMap") => Some(ReferenceKind::ConfigMap),
            _ => None,
        };
        self.unwatched.extend(kind.filter(|_| label != Some("true")).map(|kind| (kind, key.clone())));
        match manifest.get("kind").and_then(Value::as_str) {
            Some("Secret") => {
                let readings = Reading::of_secret(manifest);
                let keys = entries("data").chain(entries("stringData")).map(|(name, _)| name);
                self.secrets.insert(key, keys.map(|name| (name.clone(), readings.get(name).copied())).collect());
            }
            Some("ConfigMap") => {
                let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
                let data = entries("data").map(|(name, value)| (name.clone(), text(value))).collect();
                self.config_maps.insert(key, data);
            }
            _ => {}
        }
    }

    /// What kustomize would make of this, the ConfigMaps and Secrets that it generates among it.
    fn set_kustomization(&mut self, manifest: &Value) {
        let Some(read) = Kustomization::read(manifest).filter(|read| *read != Kustomization::default()) else { return };
        for generator in read.generators.iter().filter(|one| !one.name.is_empty() && one.envs.is_empty()) {
            self.generate(generator);
        }
        self.kustomization = Some(Arc::new(read));
    }

    /// Notes what a generator makes. The texts of its files are not known here, their keys are.
    fn generate(&mut self, generator: &Generator) {
        let key = (generator.namespace.clone(), generator.name.clone());
        let text = |content: &Content| match content {
            Content::Literal(text) => text.clone(),
            Content::File(_) => String::new(),
        };
        let entries = generator.entries.iter();
        if generator.is_secret {
            let keys = entries.map(|(name, content)| (name.clone(), Reading::of(&text(content))));
            self.secrets.insert(key, keys.collect());
        } else {
            self.config_maps.insert(key, entries.map(|(name, content)| (name.clone(), text(content))).collect());
        }
    }

    pub(crate) fn extend(&mut self, other: &Self) {
        self.secrets.extend(other.secrets.iter().map(|(key, keys)| (key.clone(), keys.clone())));
        self.config_maps.extend(other.config_maps.iter().map(|(key, data)| (key.clone(), data.clone())));
        self.unwatched.extend(other.unwatched.iter().cloned());
        self.resources.extend(other.resources.iter().cloned());
        self.lists = self.lists.take().or_else(|| other.lists.clone());
        self.kustomization = self.kustomization.take().or_else(|| other.kustomization.clone());
        self.manifests.extend(other.manifests.iter().cloned());
        self.patched.extend(other.patched.iter().cloned());
        self.mounts.extend(other.mounts.iter().cloned());
        self.puts.extend(other.puts.iter().cloned());
        self.chart |= other.chart;
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &String> {
        self.secrets.keys().chain(self.config_maps.keys()).map(|(_, name)| name)
    }

    /// Whether this is a kustomization that makes ConfigMaps or Secrets of files.
    pub(crate) fn makes_of_files(&self) -> bool {
        let entries = self.kustomization.iter().flat_map(|one| &one.generators).flat_map(|made| &made.entries);
        entries.into_iter().any(|(_, content)| matches!(content, Content::File(_)))
    }

    /// The names by which others look for it: those of its objects, and of the ConfigMaps that its resources mount.
    pub(crate) fn known_by(&self) -> impl Iterator<Item = &String> {
        self.names().chain(self.mounts.iter().map(|mount| &mount.config_map.1))
    }

    pub(crate) fn has(&self, wanted: &str) -> bool {
        self.known_by().any(|name| name == wanted)
    }
}

/// Objects of a file, in pieces. A piece that is the same as before is the same `Arc`, which makes comparing cheap.
pub type Pieces = Arc<[Arc<Objects>]>;
