//! Growing selections: from the text under the cursor to what holds it, step by step.

use super::{Analysis, Span};
use llsd_yaml::{Node, Style};

/// Spans around `offset`, each inside the next and smaller than it: the text of a scalar, the scalar with its quotes,
/// its entry, the collection, and so on to the document and the file. At least the file.
pub(crate) fn ranges(analysis: &Analysis, offset: usize) -> Vec<Span> {
    let file = Span::new(0, analysis.file.bytes());
    let mut found: Vec<Span> = Vec::new();
    let mut add = |span: Span| {
        let grows = found.last().is_none_or(|last| span.start <= last.start && last.end <= span.end && span != *last);
        if grows {
            found.push(span);
        }
    };
    if let Some((located, inside)) = analysis.at(offset) {
        let document = located.document.tree();
        let shift = |span: Span| span.shift(located.offset);
        if let Some(comment) = document.comment_at(inside) {
            add(shift(comment.span));
        }
        if let Some((config, place)) =
            located.document.config_at(inside).filter(|(one, _)| !one.embedding().is_document())
        {
            let mut next = config.tree().node_at(place);
            if let Some(node) = next.filter(|node| node.is_scalar() && node.span().contains(place)) {
                config.embedding().exact(inner(node)).map(shift).into_iter().for_each(&mut add);
            }
            while let Some(node) = next {
                let entry = node.entry().map(|entry| entry.span);
                let spans = [Some(node.span()), Some(node.full_span()), entry];
                let outside = spans.into_iter().flatten().filter_map(|span| config.embedding().exact(span));
                outside.map(shift).for_each(&mut add);
                next = node.parent();
            }
        }
        let mut next = document.node_at(inside);
        if let Some(node) = next.filter(|node| node.is_scalar() && node.span().contains(inside)) {
            add(shift(inner(node)));
        }
        while let Some(node) = next {
            add(shift(node.span()));
            add(shift(node.full_span()));
            if let Some(entry) = node.entry() {
                add(shift(entry.span));
            }
            next = node.parent();
        }
        add(Span::new(located.offset, located.offset + document.text().len()));
    }
    add(file);
    found
}

/// A quoted scalar without its quotes.
fn inner(node: Node<'_>) -> Span {
    let span = node.span();
    let quoted = matches!(node.style(), Style::SingleQuoted | Style::DoubleQuoted);
    if quoted && !node.is_unclosed() && span.len() >= 2 { Span::new(span.start + 1, span.end - 1) } else { span }
}
