//! Which entry a comment speaks of.

use crate::ide::{Span, place};
use llsd_generator::path::Path;
use llsd_yaml::{Comment, Document, Node};

/// A comment and the place that it belongs to, in the document.
#[derive(Clone, Debug)]
pub(super) struct Owned {
    /// The place; the root for a comment behind everything.
    pub(super) path: Path,
    /// With its `#`.
    pub(super) text: String,
    /// Where it stands.
    pub(super) span: Span,
    /// Whether it has a line of its own. Then it speaks of what follows, else of what stands before it.
    pub(super) own_line: bool,
    /// Whether nothing follows it in the resource.
    pub(super) last: bool,
}

/// The text of `root`, to the end of its last line that is not empty.
pub(super) fn whole(document: &Document, root: Node<'_>) -> Span {
    let span = root.span();
    let text = span.slice(document.text()).trim_end();
    Span::new(span.start, end_of_line(document, span.start + text.len()))
}

/// The comments inside `root`, and behind it on its last line, in the order of the text.
pub(super) fn inside(document: &Document, root: Node<'_>) -> Vec<Owned> {
    let whole = whole(document, root);
    // what a comment may speak of: keys, and items that are no mappings
    let mut places: Vec<(usize, Node<'_>)> = document
        .nodes()
        .filter(|node| node.is_key() || node.parent().is_some_and(|parent| parent.is_sequence()))
        .map(|node| (node.span().start, node))
        .collect();
    places.sort_by_key(|(start, _)| *start);
    document
        .comments()
        .iter()
        .filter(|comment| whole.start <= comment.span.start && comment.span.end <= whole.end)
        .map(|comment| owned(document, &places, whole, comment))
        .collect()
}

fn owned(document: &Document, places: &[(usize, Node<'_>)], whole: Span, comment: &Comment) -> Owned {
    let after = places.partition_point(|(start, _)| *start < comment.span.start);
    let following = places.get(after).filter(|(start, _)| comment.own_line && *start < whole.end);
    let owner = match following {
        Some(found) => Some(found),
        None => after.checked_sub(1).and_then(|before| places.get(before)),
    };
    Owned {
        path: owner.map(|(_, node)| place::path(&node.path())).unwrap_or_default(),
        text: comment.span.slice(document.text()).trim_end().to_owned(),
        span: comment.span,
        own_line: comment.own_line,
        last: comment.own_line && following.is_none(),
    }
}

/// The end of the line that `offset` lies in, without its break.
pub(super) fn end_of_line(document: &Document, offset: usize) -> usize {
    let rest = document.text().get(offset..).unwrap_or_default();
    let line = rest.split('\n').next().unwrap_or_default();
    offset + line.trim_end_matches('\r').len()
}
