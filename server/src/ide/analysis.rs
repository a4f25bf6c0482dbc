//! A file, understood: what can be asked of it as a whole. Questions about a place in it have files of their own.

use super::diagnostic_chunks::DiagnosticChunk;
use super::file::{File, Located};
use super::names::{Kind, Named};
use super::objects::{ObjectKey, Pieces};
use super::overlay::Embedded;
use super::types::{Diagnostic, Elsewhere, ResourceSummary, Unchecked};
use super::workspace::Workspace;
use super::{Stop, diagnostics, parallel, place, silence};
use llsd_generator::check::finding::Target;
use llsd_generator::path::Path;
use llsd_yaml::Span;
use std::collections::HashSet;
use std::sync::Arc;

/// One file, understood. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Analysis {
    pub(super) file: File,
    pub(super) workspace: Workspace,
}

impl Analysis {
    /// The text that was analysed, put together from its documents.
    #[must_use]
    pub fn text(&self) -> Arc<str> {
        let mut text = String::with_capacity(self.file.bytes());
        self.file.iter().for_each(|located| text.push_str(located.document.tree().text()));
        text.into()
    }

    /// Secrets and ConfigMaps of this file, for the [`Workspace`] that other files are analysed with.
    #[must_use]
    pub fn objects(&self) -> Pieces {
        self.file.objects().cloned().collect()
    }

    /// Whether it was made with what `workspace` knows.
    #[must_use]
    pub fn is_current(&self, workspace: &Workspace) -> bool {
        self.workspace.is(workspace)
    }

    /// Whether the verdict on a resource here depends on an object or resource of one of these names.
    #[must_use]
    pub fn mentions_any(&self, names: &HashSet<String>) -> bool {
        self.file.mentions_any(names)
    }

    /// The names of all objects and resources that verdicts here depend on.
    #[must_use]
    pub fn mentions(&self) -> HashSet<String> {
        self.file.mentions()
    }

    /// Whether the file has anything that is checked: a resource, a part of one, or a config of the server.
    #[must_use]
    pub fn is_relevant(&self) -> bool {
        self.file.is_relevant()
    }

    /// Whether it [is relevant](Self::is_relevant), or may be where other files are known: values of a chart are configs
    /// where its templates say so.
    #[must_use]
    pub fn may_be_relevant(&self) -> bool {
        self.is_relevant() || self.file.iter().any(|located| located.document.may_have_configs())
    }

    /// The number of the resource document at `offset`, for [`preview`]; `None` outside any resource.
    #[must_use]
    pub fn document_at(&self, offset: usize) -> Option<usize> {
        let located = self.file.at(offset)?;
        (!located.document.resources().is_empty()).then_some(located.number)
    }

    /// The resource at `offset`: the number of its document in the file, and its own number in that document, which
    /// is not 0 in a `List` or `Template` only. Between two resources of one document it is the one before. Patches count as
    /// resources, also those that stand in a kustomization as texts.
    #[must_use]
    pub fn resource_at(&self, offset: usize) -> Option<(usize, usize)> {
        let located = self.file.at(offset)?;
        let (document, inside) = (located.document, offset - located.offset);
        let is_ours = !document.resources().is_empty() || document.operations().is_some();
        (is_ours || document.embedded_at(inside).is_some()).then(|| (located.number, document.number_at(inside)))
    }

    /// The resources of the file, in the order of their places.
    #[must_use]
    pub fn resources(&self) -> Vec<ResourceSummary> {
        let of = |located: Located<'_>| -> Vec<ResourceSummary> {
            let document = located.document;
            let found = document.resources().iter();
            found.map(|resource| document.describe(resource, located.number, located.offset)).collect()
        };
        self.file.iter().flat_map(of).collect()
    }

    /// Everything wrong with the file, in the order of its places.
    #[must_use]
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        self.diagnostics_until(&|| false)
    }

    /// Works out what is wrong with all of the file at once, for whoever is going to ask: in a file that is new, each part
    /// takes time.
    pub fn judge_ahead(&self, stop: Stop<'_>) {
        parallel::judge(&self.file, stop);
    }

    /// How many configs of the server the file holds, itself or in ConfigMaps.
    #[must_use]
    pub fn configs(&self) -> usize {
        self.file.iter().map(|located| located.document.configs().len()).sum()
    }

    /// What could not be decided, in the order of its places.
    #[must_use]
    pub fn unchecked(&self) -> Vec<Unchecked> {
        let of = |located: Located<'_>| {
            let all = diagnostics::unchecked(located.document).into_iter();
            all.map(move |one| Unchecked { span: one.span.shift(located.offset), document: located.number, ..one })
        };
        self.file.iter().flat_map(of).collect()
    }

    /// The same, given up early where `stop` says so: what is returned then is good for nothing.
    #[must_use]
    pub fn diagnostics_until(&self, stop: Stop<'_>) -> Vec<Diagnostic> {
        let of = |located: Located<'_>| -> Vec<Diagnostic> {
            let found = located.document.diagnostics();
            found.iter().map(|diagnostic| self.in_file(diagnostic, located)).collect()
        };
        self.file.faulty(stop).into_iter().flat_map(of).collect()
    }

    /// The diagnostics of the documents that `span` touches.
    #[must_use]
    pub fn diagnostics_around(&self, span: Span) -> Vec<Diagnostic> {
        let of = |located: Located<'_>| -> Vec<Diagnostic> {
            let found = located.document.diagnostics();
            found.iter().map(|diagnostic| self.in_file(diagnostic, located)).collect()
        };
        self.touching(span).into_iter().flat_map(of).collect()
    }

    /// A diagnostic of a document with places of the file.
    fn in_file(&self, diagnostic: &Diagnostic, located: Located<'_>) -> Diagnostic {
        let mut moved = diagnostic.in_file(located.number, located.offset);
        if let Some(Elsewhere { resource, message, .. }) = moved.elsewhere.take_if(|other| other.file.is_none()) {
            let other = self.named_at(&resource, Some(moved.span));
            moved.related.extend(other.map(|span| (span, message.to_owned())));
        }
        moved
    }

    /// Where the name of the first resource of this namespace and name stands, other than at `except`.
    #[must_use]
    pub fn named_at(&self, resource: &ObjectKey, except: Option<Span>) -> Option<Span> {
        let called = self.file.called(resource).flat_map(|located| {
            let all = located.document.resources().iter().filter(|one| one.is_called(resource));
            all.map(move |one| place::name_of(located.document.tree(), &one.base).shift(located.offset))
        });
        called.into_iter().find(|span| Some(*span) != except)
    }

    /// Where the names of its resources stand.
    #[must_use]
    pub fn resource_names(&self) -> Vec<(ObjectKey, Span)> {
        let of = |located: Located<'_>| -> Vec<_> {
            let all = located.document.resources().iter().filter(|one| !one.name().is_empty());
            all.map(|one| {
                let span = place::name_of(located.document.tree(), &one.base).shift(located.offset);
                ((one.namespace().to_owned(), one.name().to_owned()), span)
            })
            .collect()
        };
        self.file.iter().flat_map(of).collect()
    }

    /// The parts of the file with diagnostics, in order. Taking a part may take the time to judge its documents.
    pub fn faulty(&self) -> impl Iterator<Item = DiagnosticChunk<'_>> {
        self.file.faulty_parts()
    }

    /// What the file mentions, in pieces that stay the same while their documents do: for a [`NameIndex`].
    pub(super) fn named(&self) -> Vec<Named> {
        self.file.named().cloned().collect()
    }

    /// A document that stands in another one, as a file of its own.
    pub(super) fn of_embedded(&self, embedded: &Embedded) -> Self {
        Self { file: File::new(vec![Arc::clone(&embedded.document)]), workspace: self.workspace.clone() }
    }

    /// The text of document number `number`.
    #[must_use]
    pub fn document_text(&self, number: usize) -> Option<String> {
        self.document(number).map(|located| located.document.tree().text().to_owned())
    }

    /// The place in its resource that a diagnostic speaks of, and whether it is the key there.
    #[must_use]
    pub fn place_of(&self, diagnostic: &Diagnostic) -> (Path, Target) {
        let at = self.at(diagnostic.span.start).and_then(|(located, inside)| {
            let node = located.document.tree().node_at(inside)?;
            let path = place::path(&node.path());
            let resource = located.document.resource_at(&path)?;
            Some((resource.relative(&path)?, node.is_key()))
        });
        let written = Path::parse(&diagnostic.path);
        match at {
            // what is missing is drawn at the key of what should hold it
            Some((path, is_key)) if is_key && path == written => (path, Target::Key),
            Some((path, false)) if path == written => (path, Target::Value),
            _ => (written, Target::Value),
        }
    }

    /// Whether kustomizations take the file of this name as a patch only.
    #[must_use]
    pub fn is_patch(&self, file: &str) -> bool {
        self.workspace.is_patch(file)
    }

    /// The other files that it was analysed with.
    pub(crate) fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    pub(super) fn documents(&self) -> impl Iterator<Item = Located<'_>> {
        self.file.iter()
    }

    pub(super) fn document(&self, number: usize) -> Option<Located<'_>> {
        self.file.get(number)
    }

    /// The documents that share a byte with `span` or touch it.
    pub(super) fn touching(&self, span: Span) -> Vec<Located<'_>> {
        self.file.touching(span)
    }

    /// The documents that may mention a name, and some others.
    pub(super) fn mentioning(&self, kind: Kind, name: &str) -> impl Iterator<Item = Located<'_>> {
        self.file.mentioning(kind, name)
    }

    /// Whether a comment silences a diagnostic that something else has made of this text.
    #[must_use]
    pub fn silences(&self, found: &Diagnostic) -> bool {
        let Some((located, inside)) = self.at(found.span.start) else { return false };
        let span = Span::new(inside, inside + (found.span.end - found.span.start));
        silence::hides(located.document.tree(), &Diagnostic { span, ..found.clone() })
    }

    /// The document at `offset`, and the offset inside it.
    pub(super) fn at(&self, offset: usize) -> Option<(Located<'_>, usize)> {
        let located = self.file.at(offset)?;
        let text = located.document.tree().text();
        let mut inside = (offset - located.offset).min(text.len());
        while !text.is_char_boundary(inside) {
            inside -= 1;
        }
        Some((located, inside))
    }
}
