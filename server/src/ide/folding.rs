//! What can be folded away: collections, block scalars, runs of comments, documents, and regions that comments mark.

use super::{Analysis, Span};
use llsd_yaml::{Comment, Document, Node};

/// The kinds of folds, which clients let users fold apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoldKind {
    /// The value of a key, or an item.
    Value,
    /// Comment lines that follow each other.
    Comment,
    /// What stands between `# region` and `# endregion`.
    Region,
}

/// A foldable piece of the file: the line where `span` begins stays, the lines after it up to its end go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fold {
    /// From somewhere in the line that stays to somewhere in the last line that goes.
    pub span: Span,
    /// What would be hidden.
    pub kind: FoldKind,
}

/// Every fold of the file, by their starts; none in a file without resources and configs. At most one begins on a line: the
/// longest.
pub(crate) fn folds(analysis: &Analysis) -> Vec<Fold> {
    if !analysis.is_relevant() {
        return Vec::new();
    }
    let mut found = Vec::new();
    let several = analysis.documents().nth(1).is_some();
    for located in analysis.documents() {
        let document = located.document.tree();
        let mut of_document = Vec::new();
        if several {
            of_document.extend(whole(document));
        }
        of_document.extend(document.nodes().filter_map(value));
        comments(document, &mut of_document);
        for config in located.document.configs().iter().filter(|config| !config.embedding().is_document()) {
            let mut inside: Vec<Fold> = config.tree().nodes().filter_map(value).collect();
            comments(config.tree(), &mut inside);
            let outside = inside.into_iter().filter_map(|fold| {
                let span = config.embedding().exact(fold.span)?;
                span.slice(document.text()).contains('\n').then_some(Fold { span, ..fold })
            });
            of_document.extend(outside);
        }
        found.extend(of_document.into_iter().map(|fold| Fold { span: fold.span.shift(located.offset), ..fold }));
    }
    longest_of_each_line(&analysis.text(), found)
}

fn whole(document: &Document) -> Option<Fold> {
    let text = document.text();
    let start = text.len() - text.trim_start().len();
    let fold = Fold { span: Span::new(start, text.trim_end().len().max(start)), kind: FoldKind::Value };
    (!fold.span.is_empty()).then_some(fold)
}

/// The fold of a collection or block scalar: it begins where its key or its item does.
fn value(node: Node<'_>) -> Option<Fold> {
    if node.is_key()
        || !(node.is_mapping() || node.is_sequence() || node.span().slice(node.document().text()).contains('\n'))
    {
        return None;
    }
    // the root is the document's fold
    node.parent()?;
    let start = node.key().map_or(node.span().start, |key| key.span().start);
    let span = Span::new(start, node.span().end);
    span.slice(node.document().text()).contains('\n').then_some(Fold { span, kind: FoldKind::Value })
}

/// Runs of comment lines, and regions. Marks of regions end a run.
fn comments(document: &Document, found: &mut Vec<Fold>) {
    let text = document.text();
    let mut run: Option<Span> = None;
    let mut open: Vec<usize> = Vec::new();
    let close = |run: &mut Option<Span>, found: &mut Vec<Fold>| {
        if let Some(span) = run.take().filter(|span| span.slice(text).contains('\n')) {
            found.push(Fold { span, kind: FoldKind::Comment });
        }
    };
    for comment in document.comments().iter().filter(|comment| comment.own_line) {
        match mark(text, comment) {
            Some(true) => {
                close(&mut run, found);
                open.push(comment.span.start);
            }
            Some(false) => {
                close(&mut run, found);
                if let Some(start) = open.pop() {
                    found.push(Fold { span: Span::new(start, comment.span.end), kind: FoldKind::Region });
                }
            }
            None => {
                let follows = |span: &Span| {
                    let between = &text[span.end..comment.span.start];
                    between.matches('\n').count() == 1 && between.trim().is_empty()
                };
                match run.as_mut().filter(|span| follows(span)) {
                    Some(span) => span.end = comment.span.end,
                    None => {
                        close(&mut run, found);
                        run = Some(comment.span);
                    }
                }
            }
        }
    }
    close(&mut run, found);
}

/// Whether a comment begins (`true`) or ends (`false`) a region.
fn mark(text: &str, comment: &Comment) -> Option<bool> {
    let words = comment.span.slice(text).trim_start_matches('#').trim_start();
    match words.split([' ', ':', '\t']).next()?.trim_end() {
        "region" => Some(true),
        "endregion" => Some(false),
        _ => None,
    }
}

fn longest_of_each_line(text: &str, mut found: Vec<Fold>) -> Vec<Fold> {
    found.sort_by_key(|fold| (fold.span.start, std::cmp::Reverse(fold.span.end)));
    let mut kept: Vec<Fold> = Vec::new();
    for fold in found {
        match kept.last_mut().filter(|last| !text[last.span.start..fold.span.start].contains('\n')) {
            Some(last) if last.span.end < fold.span.end => *last = fold,
            Some(_) => {}
            None => kept.push(fold),
        }
    }
    kept
}
