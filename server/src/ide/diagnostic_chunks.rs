//! The diagnostics of a file, part by part, for callers that keep what they made of the parts that stay the same.

use super::document::DocumentAnalysis;
use super::memo::Memo;
use super::types::Diagnostic;
use std::sync::Arc;

/// Neighbouring documents of which some have diagnostics.
#[derive(Clone, Copy, Debug)]
pub struct DiagnosticChunk<'f> {
    /// Bytes of the file before it.
    pub offset: usize,
    /// Belongs to these documents together: all of them are the same as long as it is.
    pub memo: &'f Memo,
    pub(crate) documents: &'f [Arc<DocumentAnalysis>],
    pub(crate) faulty: &'f [usize],
}

/// A document that has at least one diagnostic.
#[derive(Clone, Copy, Debug)]
pub struct FaultyDocument<'f> {
    /// Bytes of the file before it.
    pub offset: usize,
    /// Kept and dropped with the document: what it holds stays valid as long as the document does.
    pub memo: &'f Memo,
    /// What is wrong with it. Spans are relative to the document, and [`Diagnostic::document`] is always 0.
    pub diagnostics: &'f [Diagnostic],
}

impl<'f> DiagnosticChunk<'f> {
    /// The documents of the part that have diagnostics, in order.
    pub fn faulty(self) -> impl Iterator<Item = FaultyDocument<'f>> {
        let (mut start, mut inside) = (self.offset, 0);
        self.faulty.iter().map(move |number| {
            start += self.documents[inside..*number].iter().map(|one| one.tree().text().len()).sum::<usize>();
            inside = *number;
            let document = &self.documents[inside];
            FaultyDocument { offset: start, memo: document.memo(), diagnostics: document.diagnostics() }
        })
    }
}
