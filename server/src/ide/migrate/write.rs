//! Writing the new resource: parts that did not change are copied as they were, the rest is written anew, and every
//! comment follows the field that it speaks of.

mod carry;

use super::comments::{self, Owned, Stands};
use super::moves::Moves;
use crate::ide::resource::Resource;
use crate::ide::{Span, block, place};
use llsd_generator::path::{Path, Segment};
use llsd_yaml::{Document, Node, edit::quote_scalar};
use serde_json::Value;

/// Depth past which a value is written in one piece.
const DEPTH: usize = 64;

/// The text of a migrated resource, and where its comments went.
pub(super) struct Written {
    /// The text, to stand where the resource's first key stood.
    pub(super) text: String,
    /// Comments of the config that was folded into it which have no place there.
    pub(super) left: Vec<String>,
    /// Comments of fields that the new resource does not have, each with its field.
    pub(super) homeless: Vec<(Path, String)>,
}

/// Writes the new resource, with its comments and those of `config`, which was folded into it.
pub(super) fn resource(
    tree: &Document,
    root: Node<'_>,
    resource: &Resource,
    value: &Value,
    moves: &Moves,
    config: Option<&Document>,
) -> Written {
    let mut writer = Writer {
        tree,
        resource,
        moves,
        // an alias must stay behind its anchor, so nothing is copied where there are any
        copies: tree.nodes().all(|node| node.anchor().is_none()),
        comments: comments::inside(tree, root).into_iter().map(Some).collect(),
        lines: Vec::new(),
    };
    writer.mapping(value, &Path::root(), 0, DEPTH);
    let homeless = writer.place_the_rest(value);
    let left = config.map(|config| writer.carry(config, value)).unwrap_or_default();
    Written { text: writer.text(root.indent()), left, homeless }
}

/// A line of the new text.
struct Line {
    /// The field that it begins or continues.
    path: Path,
    indent: usize,
    text: String,
}

struct Writer<'a> {
    tree: &'a Document,
    resource: &'a Resource,
    moves: &'a Moves,
    copies: bool,
    /// Those that have not been written yet.
    comments: Vec<Option<Owned>>,
    lines: Vec<Line>,
}

impl<'a> Writer<'a> {
    fn push(&mut self, path: &Path, indent: usize, text: impl Into<String>) {
        self.lines.push(Line { path: path.clone(), indent, text: text.into() });
    }

    fn mapping(&mut self, value: &Value, at: &Path, indent: usize, depth: usize) {
        for (key, value) in value.as_object().into_iter().flatten() {
            self.entry(key, value, &at.key(key), indent, depth);
        }
    }

    fn entry(&mut self, key: &str, value: &Value, at: &Path, indent: usize, depth: usize) {
        let source = self.source(at);
        self.leading(source.as_ref().map(|(path, _)| path), at, indent);
        if let Some((_, node)) = source.filter(|(path, _)| path.find(&self.resource.value) == Some(value))
            && self.copy(key, node, at, indent)
        {
            return;
        }
        let quoted = quote_scalar(key);
        match value {
            Value::Object(fields) if !fields.is_empty() && depth > 0 => {
                self.push(at, indent, format!("{quoted}:"));
                self.mapping(value, at, indent + 2, depth - 1);
            }
            Value::Array(items) if !items.is_empty() && depth > 0 => {
                self.push(at, indent, format!("{quoted}:"));
                for (number, item) in items.iter().enumerate() {
                    self.item(item, &at.index(number), indent + 2, depth - 1);
                }
            }
            other => {
                for (number, line) in block::entry(key, other).into_iter().enumerate() {
                    self.push(
                        at,
                        indent + if number == 0 { 0 } else { leading_blanks(&line) },
                        line.trim_start().to_owned(),
                    );
                }
            }
        }
    }

    fn item(&mut self, value: &Value, at: &Path, indent: usize, depth: usize) {
        let source = self.source_of_item(value, at);
        self.leading(source.as_ref().map(|(path, _)| path), at, indent);
        if let Some((_, node)) = source
            && self.copy_lines(node.span(), column(self.tree, node.span().start), at, indent, "- ")
        {
            return;
        }
        match value {
            Value::Object(fields) if !fields.is_empty() && depth > 0 => {
                let from = self.lines.len();
                self.mapping(value, at, indent + 2, depth - 1);
                // the first line that is no comment takes the dash
                if let Some(first) = self.lines[from..].iter_mut().find(|line| !line.text.starts_with('#')) {
                    first.text.insert_str(0, "- ");
                    first.indent -= 2;
                }
            }
            other => {
                for (number, line) in block::lines(other).into_iter().enumerate() {
                    let extra = leading_blanks(&line);
                    let text = line.trim_start();
                    match number {
                        0 => self.push(at, indent, format!("- {text}")),
                        _ => self.push(at, indent + 2 + extra, text),
                    }
                }
            }
        }
    }

    /// The old entry that became the one at `at`.
    fn source(&self, at: &Path) -> Option<(Path, Node<'a>)> {
        self.moves.old_places(at).into_iter().find_map(|path| {
            let node = self.tree.find(&place::steps(&self.resource.base, &path))?;
            Some((path, node))
        })
    }

    /// The old list item that the one at `at` is a copy of.
    fn source_of_item(&self, value: &Value, at: &Path) -> Option<(Path, Node<'a>)> {
        let list = at.parent()?;
        let (path, node) = self.source(&list)?;
        let old = path.find(&self.resource.value)?.as_array()?;
        let number = old.iter().position(|item| item == value)?;
        Some((path.index(number), node.item(number)?))
    }

    /// Own-line comments above the old entry, and those that ended up with the new one.
    fn leading(&mut self, old: Option<&Path>, at: &Path, indent: usize) {
        let Some(old) = old else { return };
        let base = self.resource.base.clone();
        for number in 0..self.comments.len() {
            let belongs = self.comments[number]
                .as_ref()
                .is_some_and(|comment| comment.stands == Stands::Above && is_at(&comment.path, &base, old));
            if belongs && let Some(comment) = self.comments[number].take() {
                self.push(at, indent, comment.text);
            }
        }
    }

    /// Copies an entry whose value did not change.
    fn copy(&mut self, key: &str, node: Node<'a>, at: &Path, indent: usize) -> bool {
        let Some(entry) = node.entry() else { return false };
        if entry.key.parent().is_none_or(|parent| parent.is_flow()) || *entry.key.key_text() != *key {
            return false;
        }
        self.copy_lines(entry.span, column(self.tree, entry.key.span().start), at, indent, "")
    }

    /// Copies the lines of `span`, which starts at `column`, with the comments on them.
    fn copy_lines(&mut self, span: Span, column: usize, at: &Path, indent: usize, mark: &str) -> bool {
        if !self.copies {
            return false;
        }
        let end = comments::end_of_line(self.tree, span.end);
        let text = Span::new(span.start, end).slice(self.tree.text());
        for (number, line) in text.lines().enumerate() {
            let blanks = leading_blanks(line);
            let body = line.trim_end().get(blanks.min(line.trim_end().len())..).unwrap_or_default();
            match number {
                0 => self.push(at, indent, format!("{mark}{body}")),
                // what hangs further left than the entry can only be a comment or the inside of quotes
                _ => self.push(at, indent + mark.len() + blanks.saturating_sub(column), body),
            }
        }
        for comment in &mut self.comments {
            let inside =
                comment.as_ref().is_some_and(|comment| span.start <= comment.span.start && comment.span.end <= end);
            if inside {
                *comment = None;
            }
        }
        true
    }

    /// Comments of entries that are no more, or that were written anew: to the field that took the value. Returns those
    /// that speak of what the new resource does not have.
    fn place_the_rest(&mut self, value: &Value) -> Vec<(Path, String)> {
        let left: Vec<Owned> = self.comments.iter_mut().filter_map(Option::take).collect();
        let mut homeless = Vec::new();
        let mut below = Vec::new();
        let spec = Path::root().key("spec");
        let server = spec.key("server");
        for comment in left {
            let Some(old) = comment.path.segments().strip_prefix(self.resource.base.segments()) else { continue };
            let old: Path = old.iter().cloned().collect();
            match (comment.stands, self.line_for(&old, value)) {
                (Stands::Last, _) => self.push(&Path::root(), 0, comment.text),
                // below the last field of `spec`, which is taken apart: at the end of what `spec` is now
                (Stands::Below, _) if old == server => self.push(&spec, 2, comment.text),
                (Stands::Below, Some(at)) => {
                    below.push((self.lines[at].path.clone(), self.lines[at].indent, comment.text))
                }
                (Stands::Above | Stands::Behind, Some(at)) => {
                    self.put(at, comment.stands == Stands::Above, comment.text)
                }
                (_, None) => homeless.push((old, comment.text)),
            }
        }
        for (path, indent, text) in below {
            let last = self.lines.iter().rposition(|line| line.path.starts_with(&path));
            self.lines.insert(last.map_or(self.lines.len(), |last| last + 1), Line { path, indent, text });
        }
        homeless
    }

    /// Writes a comment behind a line, or above it.
    fn put(&mut self, at: usize, own_line: bool, comment: String) {
        let line = &mut self.lines[at];
        if own_line || line.text.contains(" #") || line.text.starts_with('#') {
            let (path, indent) = (line.path.clone(), line.indent);
            self.lines.insert(at, Line { path, indent, text: comment });
        } else {
            line.text.push(' ');
            line.text.push_str(&comment);
        }
    }

    /// The line that a comment about `old` belongs to now.
    fn line_for(&self, old: &Path, value: &Value) -> Option<usize> {
        let begins = |path: &Path| self.lines.iter().position(|line| line.path == *path && !line.text.starts_with('#'));
        let new = self.moves.new_place(old);
        if let Some(line) = begins(&new).or_else(|| self.copied(&new)).filter(|_| self.is_kept(old, value)) {
            return Some(line);
        }
        // a variable that became a field: the comment goes with its value
        let mut texts = Vec::new();
        let subject = match (old.last(), old.find(&self.resource.value)) {
            (Some(Segment::Key(_)), Some(Value::String(_))) => {
                old.parent().filter(|parent| matches!(parent.last(), Some(Segment::Index(_))))
            }
            _ => Some(old.clone()),
        };
        if let Some(subject) = subject.as_ref().and_then(|subject| subject.find(&self.resource.value)) {
            strings(subject, &mut texts);
        }
        for text in texts.iter().filter(|text| text.len() > 3) {
            let mut found = Vec::new();
            find_text(value, text, &Path::root(), &mut found);
            if let Some(line) = found.first().and_then(&begins) {
                return Some(line);
            }
        }
        // an object that was taken apart: where the first of its parts is
        if old.find(&self.resource.value).is_some_and(|value| value.is_object() || value.is_array()) {
            return self.moves.inside(old).find_map(begins);
        }
        None
    }

    /// The line of a field inside a block that was copied: all lines of it are known by the block's place.
    fn copied(&self, new: &Path) -> Option<usize> {
        let Segment::Key(key) = new.last()? else { return None };
        let mut above = new.parent();
        while let Some(path) = above.filter(|path| !path.segments().is_empty()) {
            if self.lines.iter().any(|line| line.path == path) {
                let begins = |line: &Line| {
                    let text = line.text.trim_start_matches("- ");
                    line.path == path && text.strip_prefix(key.as_str()).is_some_and(|rest| rest.starts_with(':'))
                };
                return self.lines.iter().position(begins);
            }
            above = path.parent();
        }
        None
    }

    /// Whether what stood at `old` still stands at its new place: an item of a list may have moved up.
    fn is_kept(&self, old: &Path, value: &Value) -> bool {
        let listed = old.segments().iter().any(|step| matches!(step, Segment::Index(_)));
        !listed || self.moves.new_place(old).find(value) == old.find(&self.resource.value)
    }

    fn text(&self, indent: usize) -> String {
        let newline = if self.tree.text().contains("\r\n") { "\r\n" } else { "\n" };
        let mut text = String::new();
        for (number, line) in self.lines.iter().enumerate() {
            if number > 0 {
                text.push_str(newline);
                if !line.text.is_empty() {
                    text.push_str(&" ".repeat(indent + line.indent));
                }
            }
            text.push_str(&line.text);
        }
        text
    }
}

fn is_at(place: &Path, base: &Path, path: &Path) -> bool {
    place.segments().strip_prefix(base.segments()) == Some(path.segments())
}

fn leading_blanks(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

fn column(tree: &Document, offset: usize) -> usize {
    tree.text()[..offset].rsplit('\n').next().map_or(0, str::len)
}

fn strings<'v>(value: &'v Value, out: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => out.push(text),
        Value::Array(items) => items.iter().for_each(|item| strings(item, out)),
        Value::Object(fields) => {
            // a value says more than a name
            let (names, values): (Vec<_>, Vec<_>) = fields.iter().partition(|(key, _)| *key == "name");
            values.into_iter().chain(names).for_each(|(_, value)| strings(value, out));
        }
        _ => {}
    }
}

fn find_text(value: &Value, text: &str, at: &Path, out: &mut Vec<Path>) {
    match value {
        Value::String(found) if found == text => out.push(at.clone()),
        Value::Array(items) => {
            for (number, item) in items.iter().enumerate() {
                find_text(item, text, &at.index(number), out);
            }
        }
        Value::Object(fields) => {
            for (key, value) in fields {
                find_text(value, text, &at.key(key), out);
            }
        }
        _ => {}
    }
}
