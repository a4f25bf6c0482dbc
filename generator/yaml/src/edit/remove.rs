//! Taking entries and items out.

use crate::{Document, Kind, Node, Span};

use super::{TextEdit, render};

/// Removes an entry (given its key or its value) or an item, with its lines, the comment behind it, and the comment
/// lines directly above it. The last entry or item of a collection that has a parent leaves `{}` or `[]`.
pub fn remove_entry(node: Node<'_>) -> Vec<TextEdit> {
    let Some(parent) = node.parent() else {
        return vec![TextEdit::new(node.full_span(), "")];
    };
    let span = match node.entry() {
        Some(entry) => entry.span,
        None => node.full_span(),
    };
    if parent.is_flow() {
        return vec![TextEdit::new(flow_range(node, parent, span), "")];
    }
    let text = node.document().text();
    let count = if parent.is_mapping() { parent.entries().count() } else { parent.items().count() };
    if count == 1 {
        return remove_only(node.document(), parent);
    }
    let sign = start_of(node, parent, span, text);
    let line = render::line_start(text, sign);
    let leading = &text[line..sign];
    let end = end_of_lines(node.document(), span);
    if !leading.trim().is_empty() {
        // The first entry stands behind a dash: the next one takes its place.
        let next = next_start(node, parent, text).unwrap_or(end);
        return vec![TextEdit::new(Span::new(sign, next), "")];
    }
    let start = comments_above(node.document(), line, leading.len());
    if end >= text.len() && !text.ends_with(['\n', '\r']) {
        let start = render::line_break_before(text, start);
        return vec![TextEdit::new(Span::new(start, end), "")];
    }
    vec![TextEdit::new(Span::new(start, end), "")]
}

/// The start of an entry's `? ` or key, or of an item's dash.
fn start_of(node: Node<'_>, parent: Node<'_>, span: Span, text: &str) -> usize {
    let sign = if parent.is_sequence() { '-' } else { '?' };
    // Only blanks, properties and breaks can stand between the sign and the node.
    if parent.is_mapping() && !node.entry().is_some_and(|e| is_explicit(e.key, text)) {
        return span.start;
    }
    dash_before(text, span.start, parent.indent(), sign).unwrap_or(span.start)
}

fn is_explicit(key: Node<'_>, text: &str) -> bool {
    text[..key.full_span().start].trim_end_matches([' ', '\t', '\n', '\r']).ends_with('?')
}

/// The sign at the collection's column on the line of `at` or above it.
fn dash_before(text: &str, at: usize, column: usize, sign: char) -> Option<usize> {
    let mut line = render::line_start(text, at);
    loop {
        let place = line + column;
        if place < at.max(line + 1) && text.get(place..).is_some_and(|t| t.starts_with(sign)) {
            return Some(place);
        }
        if line == 0 {
            return None;
        }
        line = render::line_start(text, render::line_break_before(text, line));
    }
}

fn next_start(node: Node<'_>, parent: Node<'_>, text: &str) -> Option<usize> {
    let ordinal = node.ordinal() + 1;
    if parent.is_mapping() {
        let entry = parent.entries().nth(ordinal)?;
        Some(start_of(entry.key, parent, entry.span, text))
    } else {
        let item = parent.item(ordinal)?;
        Some(start_of(item, parent, item.full_span(), text))
    }
}

/// The start of the line behind an entry, the comment behind its value included.
fn end_of_lines(doc: &Document, span: Span) -> usize {
    render::following_line(doc.text(), span.end)
}

/// The start of the comment lines that stand directly above the line, at its indentation.
fn comments_above(doc: &Document, line: usize, column: usize) -> usize {
    let text = doc.text();
    let mut start = line;
    while start > 0 {
        let above = render::line_start(text, render::line_break_before(text, start));
        let content = &text[above..start];
        let trimmed = content.trim_start_matches(' ');
        let own = trimmed.starts_with('#') && content.len() - trimmed.len() == column;
        if !own || doc.comment_at(above + column).is_none_or(|c| !c.own_line) {
            return start;
        }
        start = above;
    }
    start
}

fn remove_only(doc: &Document, parent: Node<'_>) -> Vec<TextEdit> {
    let text = doc.text();
    let span = parent.full_span();
    let void = if parent.kind() == Kind::Mapping { "{}" } else { "[]" };
    match parent.entry() {
        Some(entry) if !parent.is_key() => {
            let behind = render::behind_colon(text, entry.key.full_span().end);
            if render::line_end(text, behind) < span.start {
                let line = render::line_start(text, span.start);
                let start = comments_above(doc, line, span.start - line);
                let from = render::line_break_before(text, start);
                let to = render::line_end(text, span.end);
                return vec![
                    TextEdit::new(Span::empty(behind), format!(" {void}")),
                    TextEdit::new(Span::new(from, to), ""),
                ];
            }
            vec![TextEdit::new(span, void)]
        }
        None if parent.parent().is_none() => {
            let start = comments_above(doc, render::line_start(text, span.start), parent.indent());
            vec![TextEdit::new(Span::new(start, end_of_lines(doc, span)), "")]
        }
        _ => vec![TextEdit::new(span, void)],
    }
}

/// An entry or item between brackets, with one of the commas beside it.
fn flow_range(node: Node<'_>, parent: Node<'_>, span: Span) -> Span {
    let spans: Vec<Span> = if parent.is_mapping() {
        parent.entries().map(|e| e.span).collect()
    } else {
        parent.items().map(|i| i.full_span()).collect()
    };
    let index = node.ordinal();
    if let Some(next) = spans.get(index + 1) {
        return Span::new(span.start, next.start);
    }
    let from = match index.checked_sub(1).and_then(|i| spans.get(i)) {
        Some(previous) => previous.end,
        None => span.start,
    };
    // A comma may also stand behind the last entry.
    let rest = &node.document().text()[span.end..parent.span().end.max(span.end)];
    let trimmed = rest.trim_start();
    let end =
        if index == 0 && trimmed.starts_with(',') { span.end + (rest.len() - trimmed.len()) + 1 } else { span.end };
    Span::new(from, end)
}
