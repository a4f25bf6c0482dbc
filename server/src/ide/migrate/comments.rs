//! Which entry a comment speaks of.

use crate::ide::{Span, place};
use llsd_generator::path::Path;
use llsd_yaml::{Comment, Document, Node};

/// A comment and the place that it belongs to, in the document.
#[derive(Clone, Debug)]
pub(super) struct Owned {
    /// The place; the root for a comment behind everything.
    pub(super) path: Path,
    /// The comment, with its `#` and without the line break.
    pub(super) text: String,
    /// The bytes of the comment in the old document.
    pub(super) span: Span,
    /// How it stands to its place.
    pub(super) stands: Stands,
}

/// How a comment stands to what it speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stands {
    /// On lines of its own, above it.
    Above,
    /// Behind it, on its line.
    Behind,
    /// On lines of its own, below it, and as far to the right: it speaks of what could stand there.
    Below,
    /// Below everything else, at the end of the document.
    Last,
}

/// The text of `root`, to the end of its last line that is not empty, and the comments below it that are indented like
/// its parts.
pub(super) fn whole(document: &Document, root: Node<'_>) -> Span {
    let span = root.span();
    let text = span.slice(document.text()).trim_end();
    let last = end_of_line(document, span.start + text.len());
    let column = column(document, span.start);
    let mut end = last;
    for comment in document.comments().iter().filter(|comment| comment.span.start >= last) {
        let between = document.text().get(end..comment.span.start).unwrap_or_default();
        if !comment.own_line || !between.trim().is_empty() || self::column(document, comment.span.start) <= column {
            break;
        }
        end = end_of_line(document, comment.span.end);
    }
    Span::new(span.start, end)
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
    let of = |place: Option<&(usize, Node<'_>)>, stands: Stands| Owned {
        path: place.map(|(_, node)| place::path(&node.path())).unwrap_or_default(),
        text: comment.span.slice(document.text()).trim_end().to_owned(),
        span: comment.span,
        stands,
    };
    let after = places.partition_point(|(start, _)| *start < comment.span.start);
    let before = &places[..after];
    if !comment.own_line {
        return of(before.last(), Stands::Behind);
    }
    let column = |offset: usize| column(document, offset);
    let here = column(comment.span.start);
    let following = places.get(after).filter(|(start, _)| *start < whole.end);
    if let Some(found) = following.filter(|(start, _)| here <= column(*start)) {
        return of(Some(found), Stands::Above);
    }
    // further to the right than what follows: it belongs to the block that ends above it
    let sibling = before.iter().rev().find(|(start, _)| column(*start) <= here);
    match sibling.filter(|(start, _)| here > column(whole.start) && *start >= whole.start) {
        Some(found) => of(Some(found), Stands::Below),
        None => of(following, if following.is_some() { Stands::Above } else { Stands::Last }),
    }
}

/// Characters in front of an offset on its line.
fn column(document: &Document, offset: usize) -> usize {
    document.text().get(..offset).and_then(|text| text.rsplit('\n').next()).map_or(0, str::len)
}

/// The end of the line that `offset` lies in, without its break.
pub(super) fn end_of_line(document: &Document, offset: usize) -> usize {
    let rest = document.text().get(offset..).unwrap_or_default();
    let line = rest.split('\n').next().unwrap_or_default();
    offset + line.trim_end_matches('\r').len()
}
