//! Text edits by span. Nothing is printed anew: comments, order and spelling of everything else stay.
//!
//! New YAML is given as the text it would be as a document of its own (not indented); it is moved to the indentation
//! of its place, and written in flow style inside brackets.

mod insert;
mod quote;
mod remove;
mod render;

use std::fmt;

use crate::{Kind, Node, Span, Style};

pub use insert::{Position, insert_entry, insert_item};
pub use quote::{is_printable, quote_block_scalar, quote_scalar};
pub use remove::remove_entry;

/// Replaces the bytes of `span` by `new_text`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TextEdit {
    /// Bytes of the document's text.
    pub span: Span,
    /// The text for that place; empty to delete it.
    pub new_text: String,
}

impl TextEdit {
    /// Replaces `span` by `new_text`; with an empty span, inserts in front of that byte.
    pub fn new(span: Span, new_text: impl Into<String>) -> TextEdit {
        TextEdit { span, new_text: new_text.into() }
    }

    /// The same edit of a text in which the document starts `by` bytes further on.
    pub fn shift(self, by: usize) -> TextEdit {
        TextEdit { span: self.span.shift(by), ..self }
    }
}

impl fmt::Display for TextEdit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{} -> {:?}", self.span.start, self.span.end, self.new_text)
    }
}

/// The text after all edits. Spans refer to the text before. What is inserted at one place comes in the given order, and
/// before what replaces the text there. An edit that overlaps one before it, is out of bounds or cuts a character is left
/// out.
pub fn apply(text: &str, edits: &[TextEdit]) -> String {
    let mut order: Vec<&TextEdit> = edits.iter().collect();
    order.sort_by_key(|e| (e.span.start, e.span.end));
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for edit in order {
        let Span { start, end } = edit.span;
        if start < done || end < start || !text.is_char_boundary(start) || !text.is_char_boundary(end) {
            continue;
        }
        out.push_str(&text[done..start]);
        out.push_str(&edit.new_text);
        done = end;
    }
    out.push_str(&text[done..]);
    out
}

/// Gives a mapping entry another key. `key` may be the entry's key or its value.
pub fn rename_key(key: Node<'_>, name: &str) -> Vec<TextEdit> {
    let Some(entry) = key.entry() else { return Vec::new() };
    let span = entry.key.span();
    let quoted = quote_scalar(name);
    // `? ` and absent keys stand away from their colon.
    let text = if span.is_empty() && !entry.key.document().text()[..span.start].ends_with([' ', '\n']) {
        format!(" {quoted}")
    } else {
        quoted.into_owned()
    };
    vec![TextEdit::new(span, text)]
}

/// Replaces a value or item by other YAML. A comment behind the old value stays; anchor and tag of the old value stay
/// too. An empty `yaml` leaves nothing behind `key:`.
pub fn replace_value(node: Node<'_>, yaml: &str) -> Vec<TextEdit> {
    let doc = node.document();
    let text = doc.text();
    let fragment = render::Fragment::new(yaml);
    let span = node.span();
    let parent = node.parent();
    if parent.is_some_and(|p| p.is_flow()) {
        let new = fragment.flow();
        let gap = span.is_empty() && text[..span.start].ends_with(':');
        return vec![TextEdit::new(span, if gap { format!(" {new}") } else { new })];
    }
    let style = render::Layout::of(doc);
    let Some(parent) = parent else {
        return vec![TextEdit::new(span, fragment.lines(0, &style))];
    };
    let indent = parent.indent();
    let old_below = is_block(node);
    let in_sequence = parent.kind() == Kind::Sequence;
    // An item may stand further behind its dash than one blank.
    let written_at = (span.start - render::line_start(text, span.start)).saturating_sub(2);
    let column = if in_sequence && !span.is_empty() { written_at } else { indent };
    let (head, below) = fragment.split(column, in_sequence, &style);
    let mut edits = Vec::new();
    if old_below {
        // The old lines go; what takes their place on the line of the key is put behind its colon.
        let anchor = node.entry().map(|e| render::behind_colon(text, e.key.full_span().end));
        let same_line = anchor.is_none_or(|a| render::line_end(text, a) >= span.start);
        if same_line {
            // The first entry stands behind `- `; the comment behind the last one leaves with its line.
            let end = render::line_end(text, span.end);
            return vec![TextEdit::new(Span::new(span.start, end), format!("{head}{below}"))];
        }
        let Some(anchor) = anchor else { return edits };
        if !head.is_empty() {
            edits.push(TextEdit::new(Span::empty(anchor), format!(" {head}")));
        }
        let start = render::line_start(text, span.start);
        let from = render::line_break_before(text, start);
        edits.push(TextEdit::new(Span::new(from, render::line_end(text, span.end)), below));
        if head.contains('\n')
            && let Some(first) = edits.first_mut()
        {
            // A comment behind the colon stays behind the header.
            let line_end = render::line_end(text, anchor);
            let (line, more) = head.split_once('\n').unwrap_or((&head, ""));
            first.new_text = format!(" {}", line.trim_end_matches('\r'));
            edits.insert(1, TextEdit::new(Span::empty(line_end), format!("{}{more}", style.newline)));
        }
        return edits;
    }
    let written = if span.is_empty() && !head.is_empty() { format!(" {head}") } else { head };
    let old_end = span.end;
    let (first, more) = written.split_once('\n').map_or((written.as_str(), ""), |(f, m)| (f.trim_end_matches('\r'), m));
    if !more.is_empty() {
        // The rest of the line, a comment, stays behind the first new line.
        let line_end = render::line_end(text, old_end);
        edits.push(TextEdit::new(span, first));
        edits.push(TextEdit::new(Span::empty(line_end), format!("{}{more}", style.newline)));
        return edits;
    }
    if below.is_empty() {
        edits.push(TextEdit::new(span, written));
    } else {
        // A comment behind the old value stays on its line.
        let line_end = render::line_end(text, old_end);
        let start =
            if written.is_empty() { text[..span.start].trim_end_matches([' ', '\t']).len() } else { span.start };
        edits.push(TextEdit::new(Span::new(start.min(span.start), span.end), written));
        edits.push(TextEdit::new(Span::empty(line_end), below));
    }
    edits
}

/// Whether the node is a block collection, which stands on lines of its own or behind a dash.
fn is_block(node: Node<'_>) -> bool {
    matches!(node.kind(), Kind::Mapping | Kind::Sequence) && !node.is_flow()
}

/// Whether lines may be put below a key with this value: nothing, null, `{}` or `[]` stands there.
fn is_void(node: Node<'_>) -> bool {
    match node.kind() {
        Kind::Scalar => {
            node.is_absent()
                || (node.style() == Style::Plain && matches!(node.source(), "~" | "null" | "Null" | "NULL"))
        }
        Kind::Mapping | Kind::Sequence => node.is_flow() && node.children().next().is_none(),
        Kind::Alias => false,
    }
}
