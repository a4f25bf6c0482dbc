//! What an editor may ask about a file: plain data in, plain data out, positions in bytes.
//!
//! `ide` does not know LSP, the file system or the clock. An [`Analysis`] is an immutable snapshot; every question is
//! a function of it, so questions may run on any thread, and an answer always fits the text it was asked about.

mod actions;
mod block;
mod complete;
mod diagnostics;
mod document;
mod facts;
mod fix;
mod folding;
mod format;
mod hover;
mod ids;
mod knowledge;
mod linked;
mod meaning;
mod migrate;
mod on_type;
mod place;
mod preview;
mod schema;
mod selection;
mod symbols;
mod types;
mod workspace;

pub use folding::{Fold, FoldKind};
pub use format::FormatOptions;
pub use llsd_yaml::Span;
pub use migrate::Migrated;
pub use types::{
    ActionKind, CodeAction, CodeFix, CompletionItem, CompletionKind, Diagnostic, Hover, LineOrigin, OriginKind,
    Preview, PreviewEnv, Resource, Severity, Symbol, SymbolKind, Tag, TextEdit,
};
pub use workspace::{ObjectKey, Objects, Workspace};

use document::DocumentAnalysis;
use facts::Known;
use llsd_yaml::Stream;
use std::sync::Arc;

/// One file, understood. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Analysis {
    text: Arc<str>,
    stream: Arc<Stream>,
    documents: Arc<[LocatedDocument]>,
    objects: Arc<Objects>,
    known: Arc<Known>,
}

/// A document and where it starts in the file.
#[derive(Clone, Debug)]
struct LocatedDocument {
    offset: usize,
    document: Arc<DocumentAnalysis>,
}

/// Understands `text`. Documents that `previous` already contains, letter for letter, are not looked at again, so
/// the cost follows what was edited.
#[must_use]
pub fn analyse(text: Arc<str>, previous: Option<&Analysis>, workspace: &Workspace) -> Analysis {
    let stream = match previous {
        Some(previous) => previous.stream.update(&text),
        None => Stream::parse(&text),
    };
    let mut documents = reuse(&stream, previous);
    let (objects, known) = facts::known(&documents, previous, workspace);
    for located in &mut documents {
        if let Some(judged) = facts::judge(&located.document, &known) {
            located.document = Arc::new(judged);
        }
    }
    Analysis { text, stream: Arc::new(stream), documents: documents.into(), objects, known }
}

/// The documents of `stream`, those of `previous` where their tree is still the same.
fn reuse(stream: &Stream, previous: Option<&Analysis>) -> Vec<LocatedDocument> {
    let old: &[LocatedDocument] = previous.map_or(&[], |previous| &previous.documents);
    let new = stream.documents();
    let shift = new.len().abs_diff(old.len());
    let grown = new.len() >= old.len();
    new.iter()
        .enumerate()
        .map(|(number, located)| {
            // an edit leaves documents before it at their number and moves those behind it by the same distance
            let behind = if grown { number.checked_sub(shift) } else { Some(number + shift) };
            let same = [Some(number), behind]
                .into_iter()
                .flatten()
                .filter_map(|place| old.get(place))
                .find(|known| Arc::ptr_eq(known.document.tree(), &located.document));
            let document = match same {
                Some(known) => known.document.clone(),
                None => Arc::new(DocumentAnalysis::new(located.document.clone())),
            };
            LocatedDocument { offset: located.offset, document }
        })
        .collect()
}

impl Analysis {
    /// The text that was analysed.
    #[must_use]
    pub fn text(&self) -> &Arc<str> {
        &self.text
    }

    /// Secrets and ConfigMaps of this file, for the [`Workspace`] that other files are analysed with.
    #[must_use]
    pub fn objects(&self) -> &Arc<Objects> {
        &self.objects
    }

    /// Whether the file has a resource.
    #[must_use]
    pub fn is_relevant(&self) -> bool {
        self.documents.iter().any(|located| !located.document.resources().is_empty())
    }

    /// The number of the resource document at `offset`, for [`preview`]; `None` outside any resource.
    #[must_use]
    pub fn document_at(&self, offset: usize) -> Option<usize> {
        let number = self.number_at(offset)?;
        (!self.documents[number].document.resources().is_empty()).then_some(number)
    }

    /// The resource at `offset`: the number of its document in the file, and its own number in that document, which
    /// is not 0 in a `List` or `Template` only. Between two resources of one document it is the one before.
    #[must_use]
    pub fn resource_at(&self, offset: usize) -> Option<(usize, usize)> {
        let number = self.document_at(offset)?;
        let located = &self.documents[number];
        Some((number, located.document.resource_number_at(offset - located.offset)))
    }

    /// The resources of the file, in the order of their places.
    #[must_use]
    pub fn resources(&self) -> Vec<Resource> {
        let of = |(number, located): (usize, &LocatedDocument)| -> Vec<Resource> {
            let document = &located.document;
            let found = document.resources().iter();
            found.map(|resource| document.describe(resource, number, located.offset)).collect()
        };
        self.documents.iter().enumerate().flat_map(of).collect()
    }

    /// Everything wrong with the file, in the order of its places.
    #[must_use]
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        self.documents
            .iter()
            .enumerate()
            .flat_map(|(number, located)| {
                let found = located.document.diagnostics();
                found.iter().map(move |diagnostic| diagnostic.in_file(number, located.offset))
            })
            .collect()
    }

    fn documents(&self) -> &[LocatedDocument] {
        &self.documents
    }

    fn number_at(&self, offset: usize) -> Option<usize> {
        self.documents.partition_point(|located| located.offset <= offset).checked_sub(1)
    }

    /// The document at `offset`, and the offset inside it.
    fn at(&self, offset: usize) -> Option<(&LocatedDocument, usize)> {
        let located = self.documents.get(self.number_at(offset)?)?;
        let text = located.document.tree().text();
        let mut inside = (offset - located.offset).min(text.len());
        while !text.is_char_boundary(inside) {
            inside -= 1;
        }
        Some((located, inside))
    }
}

/// Reads the embedded schema, catalogs and base configs, so that the first question does not wait for them.
pub fn warm() {
    knowledge::warm();
    schema::warm();
}

/// The edits of all preferred fixes of the file that do not touch each other.
#[must_use]
pub fn fix_all(analysis: &Analysis) -> Vec<TextEdit> {
    fix::all(&analysis.diagnostics())
}

/// What could be written at `offset`, best first.
#[must_use]
pub fn complete(analysis: &Analysis, offset: usize) -> Vec<CompletionItem> {
    complete::complete(analysis, offset)
}

/// What is known about the text at `offset`.
#[must_use]
pub fn hover(analysis: &Analysis, offset: usize) -> Option<Hover> {
    hover::hover(analysis, offset)
}

/// Changes offered for `span`: fixes of the diagnostics it touches, and rewrites of the resource it lies in.
#[must_use]
pub fn code_actions(analysis: &Analysis, span: Span) -> Vec<CodeAction> {
    actions::code_actions(analysis, span)
}

/// The rewrite of every v1alpha1 resource in document number `document` (from 0) as v1alpha2, comments kept. `None`:
/// there is none, or the document is not well-formed.
#[must_use]
pub fn migrate(analysis: &Analysis, document: usize) -> Option<Migrated> {
    migrate::of_document(analysis, document)
}

/// The outline.
#[must_use]
pub fn symbols(analysis: &Analysis) -> Vec<Symbol> {
    symbols::symbols(analysis)
}

/// The config generated for the first resource in document number `document` (from 0); `None` if there is none.
#[must_use]
pub fn preview(analysis: &Analysis, document: usize) -> Option<Preview> {
    preview::preview(analysis, document, 0)
}

/// The config generated for resource number `resource` of document number `document`, both from 0, as
/// [`Analysis::resource_at`] counts them; `None` if there is none.
#[must_use]
pub fn preview_of(analysis: &Analysis, document: usize, resource: usize) -> Option<Preview> {
    preview::preview(analysis, document, resource)
}

/// What can be folded away; nothing in a file without resources.
#[must_use]
pub fn folds(analysis: &Analysis) -> Vec<Fold> {
    folding::folds(analysis)
}

/// Spans around `offset`, the smallest first, each inside the next; the last is the file.
#[must_use]
pub fn selection_ranges(analysis: &Analysis, offset: usize) -> Vec<Span> {
    selection::ranges(analysis, offset)
}

/// The places that have to change together with the provider id at `offset`, in the order of the text; `None` where
/// there is no such id, or it stands at one place only.
#[must_use]
pub fn linked_places(analysis: &Analysis, offset: usize) -> Option<Vec<Span>> {
    linked::places(analysis, offset)
}

/// Edits that format the file, or what `range` touches; see [`FormatOptions`]. Each replaces blanks by blanks, and the
/// value of no document changes.
#[must_use]
pub fn format(analysis: &Analysis, range: Option<Span>, options: &FormatOptions) -> Vec<TextEdit> {
    format::format(analysis, range, options)
}

/// The indentation of the new line on which the cursor stands at `offset`, just after a line break was typed.
#[must_use]
pub fn indent_new_line(analysis: &Analysis, offset: usize, options: &FormatOptions) -> Vec<TextEdit> {
    on_type::indent(analysis, offset, options).into_iter().collect()
}
