//! Whether two texts say the same.

use llsd_yaml::{Document, Node, parse_document};

/// Whether `text` is read as `document` is: the same nodes with the same values, written in the same way, and the same
/// comments in the same order.
pub(super) fn same(document: &Document, text: &str) -> bool {
    let new = parse_document(text);
    new.errors().is_empty()
        && new.strict_error().is_none()
        && document.nodes().map(shape).eq(new.nodes().map(shape))
        && comments(document).eq(comments(&new))
}

/// Kind, style, value, anchor, tag, and the number of children: in reading order that makes the tree.
fn shape(node: Node<'_>) -> impl PartialEq {
    let value = if node.is_mapping() || node.is_sequence() { String::new() } else { node.value().into_owned() };
    let properties = (node.anchor().map(str::to_owned), node.tag().map(str::to_owned));
    (node.kind(), node.style(), node.is_flow(), value, properties, node.children().count())
}

fn comments(document: &Document) -> impl Iterator<Item = (&str, bool)> {
    document.comments().iter().map(|comment| (comment.span.slice(document.text()).trim_end(), comment.own_line))
}
