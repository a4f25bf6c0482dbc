//! Writing a value that is made of parts of an older one: the parts keep their text and comments.

use crate::ide::{Span, block};
use llsd_generator::document::path_of;
use llsd_generator::path::Path;
use llsd_yaml::{Document, Node, edit::quote_scalar};
use serde_json::Value;

/// Depth past which a value is written in one piece.
const DEPTH: usize = 32;

/// The YAML of `new`, to replace `node`. `plain` is the plain value of the whole document.
pub(super) fn rewritten(document: &Document, node: Node<'_>, plain: &Value, new: &Value) -> String {
    let mut inside = node.span();
    if (node.is_mapping() || node.is_sequence()) && !node.is_flow() {
        // a comment behind the last line of a block is replaced with it; behind other values it stays
        inside.end += document.text()[inside.end..].find('\n').unwrap_or(document.text().len() - inside.end);
    }
    let parts = document
        .nodes()
        .filter(|part| !part.is_key() && inside.start <= part.span().start && part.span().end <= inside.end)
        .filter_map(|part| {
            let path: Path = path_of(&part.path());
            let key = part.key().map(|key| key.key_text().into_owned());
            Some(Part { node: part, key: key.filter(|_| part != node), value: path.find(plain)? })
        })
        .collect();
    let writer = Writer { document, inside, parts };
    writer.value(new, DEPTH).join("\n")
}

/// A piece of the older value.
struct Part<'a> {
    node: Node<'a>,
    key: Option<String>,
    value: &'a Value,
}

struct Writer<'a> {
    document: &'a Document,
    /// What is replaced; comments around it stay where they are.
    inside: Span,
    parts: Vec<Part<'a>>,
}

impl Writer<'_> {
    fn value(&self, value: &Value, depth: usize) -> Vec<String> {
        if let Some(part) = self.parts.iter().find(|part| part.key.is_none() && part.value == value) {
            return self.copy(part.node.span().start, part.node);
        }
        match value {
            Value::Object(fields) if !fields.is_empty() && depth > 0 => {
                fields.iter().flat_map(|(key, value)| self.entry(key, value, depth - 1)).collect()
            }
            Value::Array(items) if !items.is_empty() && depth > 0 => items
                .iter()
                .flat_map(|item| {
                    let mut lines = self.value(item, depth - 1);
                    let first = lines.iter().position(|line| !line.starts_with('#')).unwrap_or(0);
                    for (number, line) in lines.iter_mut().enumerate().filter(|(_, line)| !line.is_empty()) {
                        match number.cmp(&first) {
                            // comments above the first key stand above the item
                            std::cmp::Ordering::Less => {}
                            std::cmp::Ordering::Equal => line.insert_str(0, "- "),
                            std::cmp::Ordering::Greater => line.insert_str(0, "  "),
                        }
                    }
                    lines
                })
                .collect(),
            other => block::lines(other),
        }
    }

    fn entry(&self, key: &str, value: &Value, depth: usize) -> Vec<String> {
        let same = |part: &&Part<'_>| part.key.as_deref() == Some(key) && part.value == value;
        let entry = self.parts.iter().find(same).and_then(|part| Some((part.node, part.node.entry()?)));
        if let Some((node, entry)) = entry.filter(|(node, _)| node.parent().is_some_and(|parent| !parent.is_flow())) {
            let mut lines = Vec::new();
            if entry.span.start > self.inside.start {
                lines.extend(super::relocate::above(self.document, entry.key));
            }
            lines.extend(self.copy(entry.span.start, node));
            return lines;
        }
        // the same value under another key was renamed
        let renamed = |part: &&Part<'_>| part.node.is_scalar() && !part.node.is_absent() && part.value == value;
        if let Some(part) = self.parts.iter().filter(|part| part.key.is_some()).find(renamed) {
            let mut lines = self.copy(part.node.span().start, part.node);
            if let Some(first) = lines.first_mut() {
                first.insert_str(0, &format!("{}: ", quote_scalar(key)));
            }
            return lines;
        }
        let lines = self.value(value, depth);
        let key = quote_scalar(key);
        let is_block = matches!(value, Value::Array(items) if !items.is_empty())
            || matches!(value, Value::Object(fields) if !fields.is_empty());
        match lines.as_slice() {
            [one] if !is_block || one.starts_with(['{', '[']) => vec![format!("{key}: {one}")],
            _ if is_block => {
                let below = lines.iter().map(|line| if line.is_empty() { String::new() } else { format!("  {line}") });
                std::iter::once(format!("{key}:")).chain(below).collect()
            }
            _ => block::entry(&key, value),
        }
    }

    /// The lines from `start` to the end of the line that `node` ends on, moved to the left margin.
    fn copy(&self, start: usize, node: Node<'_>) -> Vec<String> {
        let text = self.document.text();
        let end = node.span().end;
        let in_flow = node.parent().is_some_and(|parent| parent.is_flow());
        let end = if in_flow { end } else { text[end..].find('\n').map_or(text.len(), |at| end + at) };
        let end = end.min(self.inside.end.max(start));
        let column = text[..start].rsplit('\n').next().map_or(0, str::len);
        text[start..end]
            .lines()
            .enumerate()
            .map(|(number, line)| {
                let line = line.trim_end();
                let blanks = line.len() - line.trim_start_matches(' ').len();
                line[if number == 0 { 0 } else { blanks.min(column) }..].to_owned()
            })
            .collect()
    }
}
