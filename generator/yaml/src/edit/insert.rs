//! Putting entries and items in.

use crate::tree::Chomp;
use crate::{Document, Node, Span, Step, Style};

use super::render::{self, Fragment, Layout};
use super::{TextEdit, is_void};

/// Where a new entry goes in its mapping.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Position<'k> {
    /// In front of all others.
    First,
    /// At the end of the mapping.
    Last,
    /// In front of the entry with this key; behind all others if there is none.
    Before(&'k str),
    /// Behind the entry with this key; behind all others if there is none.
    After(&'k str),
}

/// Adds the entry `key: yaml` to the mapping at `parent`. Parts of the path that do not exist are created as mappings.
/// `None` if that is impossible: a scalar or list is in the way.
pub fn insert_entry(
    doc: &Document,
    parent: &[Step],
    key: &str,
    yaml: &str,
    position: Position<'_>,
) -> Option<Vec<TextEdit>> {
    let layout = Layout::of(doc);
    let Some((node, taken)) = doc.nearest(parent) else {
        let text = wrap(parent, &Fragment::new(yaml).entry(key, 0, &layout), &layout)?;
        return Some(vec![at_end_of_document(doc, &text, &layout)]);
    };
    let rest = &parent[taken..];
    let (name, value) = match rest.split_first() {
        None => (key, Fragment::new(yaml)),
        Some((Step::Key(first), inner)) => {
            let plain = Layout { step: layout.step, dash: layout.dash, newline: "\n" };
            let text = wrap(inner, &Fragment::new(yaml).entry(key, 0, &plain), &plain)?;
            (first.as_str(), Fragment::new(&text))
        }
        Some((Step::Index(_), _)) => return None,
    };
    if is_void(node) {
        return below_void(node, &layout, |column| value.entry(name, column, &layout), false);
    }
    if !node.is_mapping() {
        return None;
    }
    if node.is_flow() {
        let text = format!("{}: {}", super::quote_scalar(name), value.flow());
        let index = match position {
            Position::First => 0,
            Position::Last => usize::MAX,
            Position::Before(k) => node.get_entry(k).map_or(usize::MAX, |e| e.key.ordinal()),
            Position::After(k) => node.get_entry(k).map_or(usize::MAX, |e| e.key.ordinal() + 1),
        };
        let spans: Vec<Span> = node.entries().map(|e| e.span).collect();
        return Some(vec![in_flow(node, &spans, index, text.trim_end())]);
    }
    let column = node.indent();
    let text = value.entry(name, column, &layout);
    let at = match position {
        Position::First => node.entries().next().map(|e| (e.key, true)),
        Position::Before(k) => node.get_entry(k).map(|e| (e.key, true)),
        Position::After(k) => node.get_entry(k).map(|e| (e.value, false)),
        Position::Last => None,
    };
    Some(vec![match at.or_else(|| node.entries().last().map(|e| (e.value, false)))? {
        (key, true) => in_front(doc, key.full_span().start, column, &text, &layout),
        (value, false) => behind(doc, value, column, &text, &layout),
    }])
}

/// Adds an item to the sequence at `parent`, in front of the item with this number, or behind all others. `None` if
/// there is no sequence at the path and none can be put there.
pub fn insert_item(doc: &Document, parent: &[Step], yaml: &str, index: Option<usize>) -> Option<Vec<TextEdit>> {
    let layout = Layout::of(doc);
    let fragment = Fragment::new(yaml);
    let Some(node) = doc.find(parent) else {
        // The list does not exist yet: it is an entry of its parent.
        let (last, above) = parent.split_last()?;
        let Step::Key(key) = last else { return None };
        let plain = Layout { step: layout.step, dash: layout.dash, newline: "\n" };
        let text = format!("- {}", fragment.lines(2, &plain));
        return insert_entry(doc, above, key, &text, Position::Last);
    };
    if is_void(node) {
        return below_void(node, &layout, |column| format!("- {}", fragment.lines(column + 2, &layout)), true);
    }
    if !node.is_sequence() {
        return None;
    }
    if node.is_flow() {
        let spans: Vec<Span> = node.items().map(|i| i.full_span()).collect();
        return Some(vec![in_flow(node, &spans, index.unwrap_or(usize::MAX), &fragment.flow())]);
    }
    let column = node.indent();
    let text = format!("- {}", fragment.lines(column + 2, &layout));
    match index.and_then(|i| node.item(i)) {
        Some(item) => {
            let line = render::line_start(doc.text(), item.full_span().start);
            let dash = (line + column).min(item.full_span().start);
            Some(vec![in_front(doc, dash, column, &text, &layout)])
        }
        None => Some(vec![behind(doc, node.items().last()?, column, &text, &layout)]),
    }
}

/// The entry inside new mappings, one for each step, the outermost first.
fn wrap(steps: &[Step], entry: &str, layout: &Layout) -> Option<String> {
    let mut text = entry.to_owned();
    for step in steps.iter().rev() {
        let Step::Key(key) = step else { return None };
        text = Fragment::new(&text).entry(key, 0, layout);
    }
    Some(text)
}

/// Puts lines below a key, or behind a dash, that has no value yet.
fn below_void(node: Node<'_>, layout: &Layout, text_at: impl Fn(usize) -> String, list: bool) -> Option<Vec<TextEdit>> {
    let doc = node.document();
    let text = doc.text();
    let Some(parent) = node.parent() else {
        return Some(vec![TextEdit::new(node.span(), {
            let gap = if node.span().is_empty() && node.span().start > 0 { layout.newline } else { "" };
            format!("{gap}{}", text_at(0))
        })]);
    };
    if parent.is_flow() {
        let new = Fragment::new(&text_at(0)).flow();
        let gap = if node.span().is_empty() && text[..node.span().start].ends_with(':') { " " } else { "" };
        return Some(vec![TextEdit::new(node.span(), format!("{gap}{new}"))]);
    }
    let span = node.span();
    if parent.is_sequence() {
        let gap = if span.is_empty() && text[..span.start].ends_with('-') { " " } else { "" };
        return Some(vec![TextEdit::new(span, format!("{gap}{}", text_at(parent.indent() + 2)))]);
    }
    let column = parent.indent() + if list { layout.dash } else { layout.step };
    let below = format!("{}{}{}", layout.newline, " ".repeat(column), text_at(column));
    let line_end = render::line_end(text, span.end);
    let start = if span.is_empty() { span.start } else { text[..span.start].trim_end_matches([' ', '\t']).len() };
    if text[span.end..line_end].trim().is_empty() {
        return Some(vec![TextEdit::new(Span::new(start, line_end), below)]);
    }
    Some(vec![TextEdit::new(Span::new(start, span.end), ""), TextEdit::new(Span::empty(line_end), below)])
}

/// A line in front of the entry or item that starts at `at`, above the comments that belong to it.
fn in_front(doc: &Document, at: usize, column: usize, text: &str, layout: &Layout) -> TextEdit {
    let source = doc.text();
    let line = render::line_start(source, at);
    if !source[line..at].trim().is_empty() {
        // Behind a dash: the old first entry moves to a line of its own.
        return TextEdit::new(Span::empty(at), format!("{text}{}{}", layout.newline, " ".repeat(column)));
    }
    let mut start = line;
    while start > 0 {
        let above = render::line_start(source, render::line_break_before(source, start));
        let content = &source[above..start];
        let trimmed = content.trim_start_matches(' ');
        if !trimmed.starts_with('#') || content.len() - trimmed.len() != column {
            break;
        }
        start = above;
    }
    TextEdit::new(Span::empty(start), format!("{}{text}{}", " ".repeat(column), layout.newline))
}

/// A line behind an entry or item that ends with this node.
fn behind(doc: &Document, node: Node<'_>, column: usize, text: &str, layout: &Layout) -> TextEdit {
    let source = doc.text();
    let mut end = render::line_end(source, node.full_span().end);
    // Blank lines belong to the text of a block scalar that keeps them.
    if keeps_blank_lines(node) {
        let mut next = render::following_line(source, end);
        while next < source.len() && source[next..render::line_end(source, next)].trim().is_empty() {
            end = render::line_end(source, next);
            next = render::following_line(source, end);
        }
    }
    TextEdit::new(Span::empty(end), format!("{}{}{text}", layout.newline, " ".repeat(column)))
}

/// Whether the last scalar in the node is a block scalar with `+`.
fn keeps_blank_lines(mut node: Node<'_>) -> bool {
    while let Some(last) = node.children().last() {
        node = last;
    }
    matches!(node.style(), Style::Literal | Style::Folded) && node.data().chomp == Chomp::Keep
}

/// An entry or item between brackets.
fn in_flow(node: Node<'_>, spans: &[Span], index: usize, text: &str) -> TextEdit {
    if let Some(next) = spans.get(index) {
        return TextEdit::new(Span::empty(next.start), format!("{text}, "));
    }
    match spans.last() {
        Some(last) => {
            let source = node.document().text();
            let rest = &source[last.end..node.span().end.max(last.end)];
            let trimmed = rest.trim_start();
            if trimmed.starts_with(',') {
                let comma = last.end + (rest.len() - trimmed.len()) + 1;
                TextEdit::new(Span::empty(comma), format!(" {text}"))
            } else {
                TextEdit::new(Span::empty(last.end), format!(", {text}"))
            }
        }
        None => TextEdit::new(Span::empty(node.span().start + 1), text),
    }
}

/// The entry as the only content of a document that has none.
fn at_end_of_document(doc: &Document, text: &str, layout: &Layout) -> TextEdit {
    let source = doc.text();
    let gap = if source.is_empty() || source.ends_with(['\n', '\r']) { "" } else { layout.newline };
    TextEdit::new(Span::empty(source.len()), format!("{gap}{text}{}", layout.newline))
}
