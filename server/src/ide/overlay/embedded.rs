//! Patches that stand in a kustomization as texts: each a document of its own, with places of the one around it.

use super::super::document::{DocumentAnalysis, Retention};
use super::super::types::{CompletionItem, Diagnostic, Hover, TextEdit};
use super::super::{Span, place, read};
use llsd_generator::kustomize::{Kustomization, Source};
use llsd_generator::path::Path;
use llsd_yaml::{BlockScalar, Document, Node, Style, split_documents};
use std::sync::Arc;

/// One document of a patch.
#[derive(Clone, Debug)]
pub(crate) struct Embedded {
    /// Number of the patch in its kustomization.
    pub(crate) number: usize,
    /// The path of the patch's text in the kustomization.
    path: Path,
    /// Bytes of the text before the document.
    start: usize,
    /// The patch as a document of its own.
    pub(crate) document: Arc<DocumentAnalysis>,
}

/// The patches in a kustomization that are ours.
pub(crate) fn all_in(kustomization: &Kustomization, kept: Retention) -> Vec<Embedded> {
    let mut found = Vec::new();
    for (number, patch) in kustomization.patches.iter().enumerate() {
        let Source::Inline { path, text } = &patch.source else { continue };
        for span in split_documents(text) {
            let document = Arc::new(read(span.slice(text), kept, false));
            if document.is_ours() {
                found.push(Embedded { number, path: path.clone(), start: span.start, document });
            }
        }
    }
    found
}

impl Embedded {
    /// The same patch, judged anew.
    pub(crate) fn with(&self, document: DocumentAnalysis) -> Self {
        Self { document: Arc::new(document), path: self.path.clone(), ..*self }
    }

    fn node<'t>(&self, tree: &'t Document) -> Option<Node<'t>> {
        tree.find(&place::steps(&Path::root(), &self.path))
    }

    fn block(&self, tree: &Document) -> Option<BlockScalar> {
        self.node(tree).filter(|node| node.style() == Style::Literal)?.block()
    }

    /// The offset inside the patch of an offset of the document around it.
    pub(crate) fn inside(&self, tree: &Document, offset: usize) -> Option<usize> {
        let inside = self.block(tree)?.inner(offset)?.checked_sub(self.start)?;
        (inside <= self.document.tree().text().len()).then_some(inside)
    }

    /// A part of the patch as a part of the document around it: all of the text where it is written in another way than
    /// as a block.
    pub(crate) fn outer(&self, tree: &Document, span: Span) -> Span {
        let Some(block) = self.block(tree) else {
            return self.node(tree).map_or(Span::new(0, 0), place::name_span);
        };
        let at = |inner: usize| block.outer(inner + self.start);
        let start = at(span.start).unwrap_or(block.content.start);
        // the end of a line, not the start of the next
        let end = if span.is_empty() { Some(start) } else { at(span.end - 1).map(|last| last + 1) };
        Span::new(start, end.unwrap_or(start).max(start))
    }

    /// An edit inside of it as one of the document around it. `None` where it is no block.
    pub(crate) fn edit(&self, tree: &Document, edit: &TextEdit) -> Option<TextEdit> {
        let block = self.block(tree)?;
        let indent = format!("\n{}", " ".repeat(block.indent));
        let start = block.outer(edit.span.start + self.start)?;
        let end = block.outer(edit.span.end + self.start)?;
        Some(TextEdit { span: Span::new(start, end), new_text: edit.new_text.replace('\n', &indent) })
    }

    /// What is wrong with it, with places of the document around it.
    pub(crate) fn diagnostics(&self, tree: &Document) -> Vec<Diagnostic> {
        let moved = |found: &Diagnostic| {
            let mut moved = found.clone();
            moved.span = self.outer(tree, found.span);
            for (span, _) in &mut moved.related {
                *span = self.outer(tree, *span);
            }
            moved.fixes.retain_mut(|fix| {
                let edits: Option<Vec<TextEdit>> = fix.edits.iter().map(|edit| self.edit(tree, edit)).collect();
                let possible = edits.is_some();
                fix.edits = edits.unwrap_or_default();
                possible
            });
            moved
        };
        self.document.diagnostics().iter().map(moved).collect()
    }

    /// An offer inside of it as one for the file, in which the document around it begins at `offset`.
    pub(crate) fn offer(&self, tree: &Document, offset: usize, mut item: CompletionItem) -> Option<CompletionItem> {
        // its further lines begin where this one does
        item.insert.span = self.edit(tree, &item.insert)?.span.shift(offset);
        Some(item)
    }

    /// What is known of a place inside of it, for the file.
    pub(crate) fn hover(&self, tree: &Document, offset: usize, hover: Hover) -> Hover {
        Hover { span: self.outer(tree, hover.span).shift(offset), ..hover }
    }
}
