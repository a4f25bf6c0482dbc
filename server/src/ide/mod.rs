//! What an editor may ask about a file: plain data in, plain data out, positions in bytes.
//!
//! `ide` does not know LSP, the file system or the clock. An [`Analysis`] is an immutable snapshot; every question is
//! a function of it, so questions may run on any thread, and an answer always fits the text it was asked about.

mod span;
mod types;
mod workspace;

pub use span::Span;
pub use types::{
    ActionKind, CodeAction, CodeFix, CompletionItem, CompletionKind, Diagnostic, Hover, LineOrigin, OriginKind,
    Preview, PreviewEnv, Resource, Severity, Symbol, SymbolKind, Tag, TextEdit,
};
pub use workspace::{ObjectKey, Objects, Workspace};

use std::sync::Arc;

/// One file, understood. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Analysis {
    text: Arc<str>,
    objects: Arc<Objects>,
}

/// Understands `text`. Documents that `previous` already contains, letter for letter, are not looked at again, so
/// the cost follows what was edited.
#[must_use]
pub fn analyse(text: Arc<str>, _previous: Option<&Analysis>, _workspace: &Workspace) -> Analysis {
    Analysis { text, objects: Arc::default() }
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

    /// Whether the file has anything that this server serves.
    #[must_use]
    pub fn is_relevant(&self) -> bool {
        false
    }

    /// The number of the resource document at `offset`, for [`preview`]; `None` outside any resource.
    #[must_use]
    pub fn document_at(&self, _offset: usize) -> Option<usize> {
        None
    }

    /// The resources of the file, in the order of their places.
    #[must_use]
    pub fn resources(&self) -> Vec<Resource> {
        Vec::new()
    }

    /// Everything wrong with the file, in the order of its places.
    #[must_use]
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        Vec::new()
    }
}

/// Reads the embedded schema, catalogs and base configs, so that the first question does not wait for them.
pub fn warm() {}

/// The edits of all preferred fixes of the file that do not touch each other.
#[must_use]
pub fn fix_all(_analysis: &Analysis) -> Vec<TextEdit> {
    Vec::new()
}

/// What could be written at `offset`.
#[must_use]
pub fn complete(_analysis: &Analysis, _offset: usize) -> Vec<CompletionItem> {
    Vec::new()
}

/// What is known about the text at `offset`.
#[must_use]
pub fn hover(_analysis: &Analysis, _offset: usize) -> Option<Hover> {
    None
}

/// Changes offered for `span`: fixes of the diagnostics it touches, and rewrites of the resource it lies in.
#[must_use]
pub fn code_actions(_analysis: &Analysis, _span: Span) -> Vec<CodeAction> {
    Vec::new()
}

/// The outline.
#[must_use]
pub fn symbols(_analysis: &Analysis) -> Vec<Symbol> {
    Vec::new()
}

/// The config generated for the resource in document number `document` (from 0); `None` if there is none.
#[must_use]
pub fn preview(_analysis: &Analysis, _document: usize) -> Option<Preview> {
    None
}
