//! Which text wrote what in a resource that kustomizations put together.

use super::super::file_names::{folder_of, relative};
use super::super::objects::{Manifest, ObjectKey};
use super::super::{Analysis, Span, place};
use llsd_generator::check::finding::Target;
use llsd_generator::kustomize::{Operations, Patch, Pointer, Source};
use llsd_generator::path::Path;
use serde_json::Value;
use std::sync::Arc;

/// A resource, or a patch that was applied to it.
#[derive(Clone, Debug)]
pub struct Writer {
    /// The file that it stands in.
    pub file: Arc<str>,
    /// For a patch that stands in a kustomization: its number there.
    pub(super) inline: Option<usize>,
    /// For a patch: the kustomization that takes it, and its number there.
    pub(super) entry: Option<(Arc<str>, usize)>,
    /// The resource or patch as plain JSON.
    pub(super) value: Arc<Value>,
    /// For JSON 6902 operations: their numbers, and the places that they wrote.
    pub(super) operations: Vec<(usize, Path)>,
}

/// A resource that a kustomization puts together.
#[derive(Clone, Debug)]
pub struct Made {
    /// Namespace and name that it comes to.
    pub key: ObjectKey,
    /// What it comes to, as far as it can be followed.
    pub(crate) value: Value,
    /// What it is made of: first the resource, then its patches in their order.
    pub writers: Vec<Writer>,
}

impl Writer {
    /// A patch, and what became of the resource.
    pub(super) fn patch(file: &str, patch: &Patch, number: usize, body: &Manifest, after: &Value) -> Self {
        let entry = Some((Arc::from(file), number));
        let (file, inline) = match &patch.source {
            Source::File(path) => (relative(folder_of(file), path), None),
            Source::Inline { .. } => (file.to_owned(), Some(number)),
        };
        let written = |one: &Value| Pointer::parse(one.get("path")?.as_str()?)?.path_in(after);
        let operations = Operations::read(&body.value);
        let operations = operations.iter().flat_map(|all| all.iter().enumerate());
        let operations = operations.filter_map(|(number, one)| Some((number, written(one)?))).collect();
        Self { file: file.into(), inline, entry, value: Arc::clone(&body.value), operations }
    }

    /// The place in its own text that wrote `path` of the resource, and how many steps of it that are.
    fn place(&self, path: &Path) -> (Path, usize) {
        let writes = |(_, written): &&(usize, Path)| path.starts_with(written);
        if let Some((number, written)) = self.operations.iter().rev().find(writes) {
            let below = path.segments()[written.segments().len()..].iter().cloned().collect();
            return (Path::root().index(*number).key("value").join(&below), path.segments().len());
        }
        let mut there = path.clone();
        while there.find(&self.value).is_none() && there.pop().is_some() {}
        let length = there.segments().len();
        (path.clone(), length)
    }

    /// Where that stands in its file, which `analysis` is of.
    fn span(&self, analysis: &Analysis, path: &Path, target: Target) -> Option<Span> {
        let is_it = |manifest: &Manifest| manifest.value == self.value;
        for located in analysis.documents() {
            let document = located.document;
            if let Some(number) = self.inline {
                let here = document
                    .embedded()
                    .iter()
                    .find(|one| one.number == number && one.document.objects().manifests.iter().any(is_it));
                let Some(patch) = here else { continue };
                let inner = place::span(patch.document.tree(), &place::steps(&Path::root(), path), target);
                return Some(patch.outer(document.tree(), inner).shift(located.offset));
            }
            if document.objects().manifests.iter().any(is_it) {
                let base = document.resources().iter().find(|one| one.value == self.value).map(|one| &one.base);
                let root = Path::root();
                let steps = place::steps(base.unwrap_or(&root), path);
                return Some(place::span(document.tree(), &steps, target).shift(located.offset));
            }
        }
        None
    }
}

impl Made {
    /// Whether the resource itself stands in such a file.
    pub(crate) fn comes_from(&self, is_it: impl Fn(&Arc<str>) -> bool) -> bool {
        self.writers.first().is_some_and(|first| is_it(&first.file))
    }

    /// A resource that one file has as it is: the one of this name, else the only one there.
    #[must_use]
    pub fn alone(file: Arc<str>, analysis: &Analysis, key: &ObjectKey) -> Option<Self> {
        let all = || analysis.documents().flat_map(|located| located.document.resources());
        let only = || all().next().filter(|_| all().nth(1).is_none());
        let found = all().find(|resource| resource.is_called(key)).or_else(only)?;
        let value = Arc::clone(&found.value);
        let writer = Writer { file, inline: None, entry: None, value, operations: Vec::new() };
        Some(Self { key: key.clone(), value: Value::clone(&found.value), writers: vec![writer] })
    }

    /// The text that wrote `path` last, and where in it: where nobody did, the one that has most of the way there.
    /// `analysis` knows the files.
    pub fn place<'a>(
        &self,
        path: &Path,
        target: Target,
        analysis: impl Fn(&str) -> Option<&'a Analysis>,
    ) -> Option<(Arc<str>, Span)> {
        let places = self.writers.iter().map(|writer| (writer, writer.place(path)));
        let mut best: Option<(&Writer, (Path, usize))> = None;
        for (writer, (place, length)) in places {
            let whole = length == path.segments().len();
            if best.as_ref().is_none_or(|(_, (_, before))| length > *before || (whole && length == *before)) {
                best = Some((writer, (place, length)));
            }
        }
        let (writer, (place, _)) = best?;
        let span = writer.span(analysis(&writer.file)?, &place, target)?;
        Some((Arc::clone(&writer.file), span))
    }
}
