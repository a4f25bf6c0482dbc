//! Patches of a kustomization: where they stand, what they apply to, what they do.

use super::merge::{self, MergeError};
use super::pointer::Pointer;
use crate::path::Path;
use json_patch::{AddOperation, PatchOperation};
use regex::Regex;
use serde_json::Value;
use std::fmt;

/// Where a patch is written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// In a file: its path, relative to the folder of the kustomization.
    File(String),
    /// In the kustomization, as a text at this path of it.
    Inline {
        /// The path of the text.
        path: Path,
        /// The text, which is YAML.
        text: String,
    },
}

/// One entry of `patches`, `patchesStrategicMerge` or `patchesJson6902`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Patch {
    /// The file or the inline text that holds the patch.
    pub source: Source,
    /// What it applies to. `None`: to the resource whose kind, name and namespace the patch itself has.
    pub target: Option<Target>,
    /// Its place in the kustomization.
    pub path: Path,
    /// Whether it is applied behind prefixes, suffixes and the namespace, as those of `patchesJson6902` are.
    pub is_late: bool,
}

/// The selector of a patch. A field that is empty selects everything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Target {
    /// API group, compared as it is.
    pub group: String,
    /// API version, compared as it is.
    pub version: String,
    /// A pattern for the whole kind.
    pub kind: String,
    /// A pattern for the whole name.
    pub name: String,
    /// A pattern for the whole namespace.
    pub namespace: String,
    /// Whether labels or annotations select too, which are not looked at here.
    pub has_selectors: bool,
}

/// What identifies a resource to a patch.
#[derive(Clone, Copy, Debug)]
pub struct Identity<'a> {
    /// `group/version`, or the version of the core group.
    pub api_version: &'a str,
    /// `kind` as the object has it; a target's pattern has to match all of it.
    pub kind: &'a str,
    /// The name; patches find a resource also under the names that it had before prefixes and suffixes.
    pub name: &'a str,
    /// The namespace; empty where it names none.
    pub namespace: &'a str,
}

impl<'a> Identity<'a> {
    /// Reads it from a resource or a strategic merge patch.
    #[must_use]
    pub fn of(value: &'a Value) -> Self {
        let text = |value: Option<&'a Value>| value.and_then(Value::as_str).unwrap_or_default();
        let metadata = |field: &str| text(value.get("metadata").and_then(|metadata| metadata.get(field)));
        Self {
            api_version: text(value.get("apiVersion")),
            kind: text(value.get("kind")),
            name: metadata("name"),
            namespace: metadata("namespace"),
        }
    }

    /// Whether both are one to kustomize: group, version, kind, namespace and name are the same.
    #[must_use]
    pub fn is(&self, other: &Identity<'_>) -> bool {
        let plain = |namespace| if namespace == "default" { "" } else { namespace };
        (self.api_version, self.kind, self.name) == (other.api_version, other.kind, other.name)
            && plain(self.namespace) == plain(other.namespace)
    }
}

impl Target {
    /// Whether it selects a resource. `None`: labels or annotations decide.
    #[must_use]
    pub fn selects(&self, resource: &Identity<'_>) -> Option<bool> {
        let (group, version) = resource.api_version.split_once('/').unwrap_or(("", resource.api_version));
        let exact = |wanted: &str, found: &str| wanted.is_empty() || wanted == found;
        let whole = |pattern: &str, found: &str| {
            pattern.is_empty() || Regex::new(&format!("^(?:{pattern})$")).is_ok_and(|pattern| pattern.is_match(found))
        };
        let fits = exact(&self.group, group)
            && exact(&self.version, version)
            && whole(&self.kind, resource.kind)
            && whole(&self.name, resource.name)
            && whole(&self.namespace, if resource.namespace.is_empty() { "default" } else { resource.namespace });
        if fits && self.has_selectors { None } else { Some(fits) }
    }
}

/// In the order of kustomize: strategic merge, `patches`, and behind other transformers `patchesJson6902`.
pub(super) fn read_all(kustomization: &Value) -> Vec<Patch> {
    let mut all = Vec::new();
    let listed = |field: &'static str| {
        let list = kustomization.get(field).and_then(Value::as_array);
        list.into_iter().flatten().enumerate().map(move |(number, one)| (one, Path::root().key(field).index(number)))
    };
    for (one, path) in listed("patchesStrategicMerge") {
        let Some(text) = one.as_str() else { continue };
        let source = match text.contains(['\n', ':']) {
            true => Source::Inline { path: path.clone(), text: text.to_owned() },
            false => Source::File(text.to_owned()),
        };
        all.push(Patch { source, target: None, path, is_late: false });
    }
    for (field, is_late) in [("patches", false), ("patchesJson6902", true)] {
        for (one, path) in listed(field) {
            let text = |field: &str| one.get(field).and_then(Value::as_str).filter(|text| !text.is_empty());
            let source = match (text("path"), text("patch")) {
                (Some(file), _) => Source::File(file.to_owned()),
                (None, Some(text)) => Source::Inline { path: path.key("patch"), text: text.to_owned() },
                (None, None) => continue,
            };
            let target = one.get("target").filter(|target| target.is_object()).map(target);
            all.push(Patch { source, target, path, is_late });
        }
    }
    all
}

fn target(written: &Value) -> Target {
    let text = |field: &str| written.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    Target {
        group: text("group"),
        version: text("version"),
        kind: text("kind"),
        name: text("name"),
        namespace: text("namespace"),
        has_selectors: !text("labelSelector").is_empty() || !text("annotationSelector").is_empty(),
    }
}

/// Why a patch does not apply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatchError {
    /// A strategic merge patch and its resource do not fit.
    Merge(MergeError),
    /// A JSON 6902 operation does not.
    Operation(OperationFault),
}

impl fmt::Display for PatchError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Merge(error) => error.fmt(out),
            Self::Operation(fault) => out.write_str(&fault.reason),
        }
    }
}

impl std::error::Error for PatchError {}

/// What is wrong with an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationFault {
    /// Number of the operation, from 0.
    pub number: usize,
    /// What is wrong, as a sentence for the user.
    pub reason: String,
}

/// The operations of a JSON 6902 patch: mappings with `op` and `path`. They may still be wrong; see [`Self::apply`].
#[derive(Clone, Debug, PartialEq)]
pub struct Operations(Vec<Value>);

impl Operations {
    /// Reads a list of operations; `None` for anything but a list of mappings that have `op` or `path`.
    #[must_use]
    pub fn read(value: &Value) -> Option<Self> {
        let all = value.as_array()?;
        let is_one = |one: &Value| one.get("op").is_some() || one.get("path").is_some();
        (!all.is_empty() && all.iter().all(is_one)).then(|| Self(all.clone()))
    }

    /// Iterates over the operations as they are written, good or not.
    pub fn iter(&self) -> impl Iterator<Item = &Value> {
        self.0.iter()
    }

    /// Where in the list stands what is at a place of the resource afterwards: `[0].value` or below, in the last operation
    /// that adds or replaces it or something around it. `None`: none does.
    #[must_use]
    pub fn writer(&self, after: &Value, place: &Path) -> Option<Path> {
        let writes = |(number, operation): (usize, &Value)| {
            let path = written(operation)?.path_in(after)?;
            let below = place.segments().strip_prefix(path.segments())?;
            Some(Path::root().index(number).key("value").join(&below.iter().cloned().collect()))
        };
        self.0.iter().enumerate().filter_map(writes).next_back()
    }

    /// The resource after all operations.
    ///
    /// # Errors
    /// The first operation that kustomize would stop at.
    pub fn apply(&self, resource: &Value) -> Result<Value, OperationFault> {
        let mut result = resource.clone();
        for (number, one) in self.0.iter().enumerate() {
            let fault = |reason: String| OperationFault { number, reason };
            let mut operation: PatchOperation =
                serde_json::from_value(one.clone()).map_err(|error| fault(error.to_string()))?;
            // kustomize replaces also what is not there yet, in a mapping
            if let PatchOperation::Replace(replace) = &operation
                && lacks(&result, &replace.path.to_string())
            {
                let (path, value) = (replace.path.clone(), replace.value.clone());
                operation = PatchOperation::Add(AddOperation { path, value });
            }
            json_patch::patch(&mut result, &[operation]).map_err(|error| fault(error.kind.to_string()))?;
        }
        Ok(result)
    }
}

impl From<MergeError> for PatchError {
    fn from(error: MergeError) -> Self {
        Self::Merge(error)
    }
}

/// Where an operation puts a value that it has itself.
pub(crate) fn written(operation: &Value) -> Option<Pointer> {
    let text = |field: &str| operation.get(field).and_then(Value::as_str);
    matches!(text("op")?, "add" | "replace").then(|| Pointer::parse(text("path")?))?
}

/// Whether a pointer leads to an entry that its mapping does not have.
fn lacks(object: &Value, pointer: &str) -> bool {
    let path = Pointer::parse(pointer).and_then(|pointer| pointer.path_in(object));
    let holder = path.as_ref().and_then(Path::parent).and_then(|holder| holder.find(object)?.as_object());
    holder.is_some() && path.is_some_and(|path| path.find(object).is_none())
}

/// Applies a strategic merge patch, or a list of operations, to a resource. `None`: it is removed.
///
/// # Errors
/// Where kustomize stops.
pub fn apply(resource: &Value, patch: &Value) -> Result<Option<Value>, PatchError> {
    match Operations::read(patch) {
        Some(operations) => operations.apply(resource).map(Some).map_err(PatchError::Operation),
        None => Ok(merge::merge(resource, patch)?),
    }
}
