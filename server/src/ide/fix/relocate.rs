//! Moving an entry with the comments that belong to it.

use super::insert;
use crate::ide::place;
use crate::ide::types::TextEdit;
use llsd_generator::path::{Path, Segment};
use llsd_yaml::{Document, Node, edit, parse_document};

/// Takes the entry or item at `from` to `to`: its text as written, the comment lines above it, and the comment behind
/// its key.
pub(super) fn relocate(document: &Document, base: &Path, from: &Path, to: &Path) -> Option<Vec<TextEdit>> {
    let node = document.find(&place::steps(base, from))?;
    let (comments, behind) = (above(document, node), behind(document, node));
    let value = inner_comments(document, node) + &dedented(document, node);
    let mut text = edit::apply(document.text(), &edit::remove_entry(node));
    // nothing is left of an object whose only entry moved away: it goes too, unless the entry moves back into it
    let held_by_key = |parent: &Path| matches!(parent.last(), Some(Segment::Key(_))) && parent.segments().len() > 1;
    if let Some(parent) = from.parent().filter(|parent| !to.starts_with(parent) && held_by_key(parent)) {
        let now = parse_document(&text);
        let emptied =
            now.find(&place::steps(base, &parent)).filter(|left| left.is_mapping() && left.entries().next().is_none());
        if let Some(left) = emptied {
            text = edit::apply(&text, &edit::remove_entry(left));
        }
    }
    let without = parse_document(&text);
    text = edit::apply(&text, &insert(&without, base, to, &value)?);
    let with = parse_document(&text);
    let moved = with.find(&place::steps(base, to))?;
    let key = moved.key().map_or(moved.span(), |key| key.span());
    let line_end = |at: usize| text[at..].find('\n').map_or(text.len(), |length| at + length);
    let mut additions: Vec<(usize, String)> = Vec::new();
    if let Some(comment) = behind {
        additions.push((line_end(key.end), format!(" {comment}")));
    }
    let line = text[..key.start].rfind('\n').map_or(0, |at| at + 1);
    // behind a dash there is no room for a comment line
    if text[line..key.start].trim().is_empty() {
        let indent = " ".repeat(key.start - line);
        additions.push((line, comments.iter().map(|comment| format!("{indent}{comment}\n")).collect()));
    }
    for (at, addition) in additions {
        text.insert_str(at, &addition);
    }
    Some(super::difference(document.text(), &text))
}

/// Comment lines between a key and what lies below it.
fn inner_comments(document: &Document, node: Node<'_>) -> String {
    let Some(first) = node.entries().next().map(|entry| entry.key).or_else(|| node.items().next()) else {
        return String::new();
    };
    if node.is_flow() || node.key().is_none() {
        return String::new();
    }
    above(document, first).into_iter().map(|comment| comment + "\n").collect()
}

/// The value's own text, as a document of its own.
fn dedented(document: &Document, node: Node<'_>) -> String {
    let span = node.full_span();
    let column = document.text()[..span.start].rsplit('\n').next().map_or(0, str::len);
    let indent = if node.is_mapping() || node.is_sequence() {
        node.indent()
    } else {
        column.min(node_key_column(document, node))
    };
    let text = span.slice(document.text());
    let mut lines = text.lines();
    let mut out = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        let blanks = line.len() - line.trim_start_matches(' ').len();
        out.push('\n');
        out.push_str(line.get(blanks.min(indent)..).unwrap_or_default());
    }
    out
}

fn node_key_column(document: &Document, node: Node<'_>) -> usize {
    let start = node.key().map_or(node.span().start, |key| key.span().start);
    document.text()[..start].rsplit('\n').next().map_or(0, str::len)
}

/// Comment lines directly above the entry or item.
pub(super) fn above(document: &Document, node: Node<'_>) -> Vec<String> {
    let text = document.text();
    let start = node.entry().map_or(node.span().start, |entry| entry.span.start);
    let line_of = |offset: usize| text[..offset].rfind('\n').map_or(0, |at| at + 1);
    let mut top = line_of(start);
    let mut found: Vec<String> = Vec::new();
    for comment in document.comments().iter().rev().filter(|comment| comment.own_line && comment.span.start < start) {
        let directly_above = text[comment.span.end..top].trim_end_matches([' ', '\r']) == "\n";
        if !directly_above {
            break;
        }
        found.insert(0, comment.span.slice(text).trim_end().to_owned());
        top = line_of(comment.span.start);
    }
    found
}

/// The comment on the line of the entry's key.
fn behind(document: &Document, node: Node<'_>) -> Option<String> {
    let text = document.text();
    let key = node.key()?.span();
    let line_end = text[key.end..].find('\n').map_or(text.len(), |at| key.end + at);
    let found = document.comments().iter().find(|comment| (key.end..line_end).contains(&comment.span.start))?;
    Some(found.span.slice(text).trim_end().to_owned())
}
