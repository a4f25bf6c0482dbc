//! From changes of the tree to changes of the text.

mod difference;
mod relocate;
mod rewrite;

use super::types::{Diagnostic, TextEdit};
use super::{block, place};
use llsd_generator::check::finding::FixEdit;
use llsd_generator::document::Plain;
use llsd_generator::path::{Path, Segment};
use llsd_yaml::{Document, Node, edit, parse_document};
use serde_json::Value;

pub(crate) use difference::difference;

/// The text edits that make `changes` to the resource whose root is at `base`. `None` if one of them has no place in
/// the text, such as a value that comes from an alias.
pub(crate) fn text_edits(document: &Document, base: &Path, changes: &[FixEdit]) -> Option<Vec<TextEdit>> {
    if let [change] = changes {
        return one(document, base, change);
    }
    // each change sees the text that the ones before it left
    let mut text = document.text().to_owned();
    for change in changes {
        let now = parse_document(&text);
        text = edit::apply(&text, &one(&now, base, change)?);
    }
    Some(difference(document.text(), &text))
}

fn one(document: &Document, base: &Path, change: &FixEdit) -> Option<Vec<TextEdit>> {
    let node = |path: &Path| document.find(&place::steps(base, path));
    match change {
        FixEdit::RenameKey { path, to } => Some(edit::rename_key(node(path)?.key()?, to)),
        FixEdit::Replace { path, value } => Some(replace(document, node(path)?, value)),
        FixEdit::Quote { path } => {
            let node = node(path)?;
            // a JSON string is a double-quoted scalar
            Some(edit::replace_value(node, &Value::from(node.value()).to_string()))
        }
        FixEdit::Remove { path } => Some(edit::remove_entry(removed(node(path)?))),
        FixEdit::Insert { path, value } => match node(path) {
            // a key without a value is there already
            Some(node) if node.key().is_some() => Some(replace(document, node, value)),
            _ => insert(document, base, path, &yaml(value)),
        },
        FixEdit::Move { from, to } => relocate::relocate(document, base, from, to),
    }
    .filter(|edits: &Vec<_>| !edits.is_empty())
}

/// What goes where `node` is to go: no list of the resource may be empty, so the last item takes its list along.
fn removed(node: Node<'_>) -> Node<'_> {
    let list = node.parent().filter(|parent| parent.is_sequence() && parent.items().nth(1).is_none());
    list.filter(|list| list.key().is_some()).unwrap_or(node)
}

/// A new value that holds parts of the old one keeps their text.
fn replace(document: &Document, node: Node<'_>, value: &Value) -> Vec<TextEdit> {
    if !(value.is_object() || value.is_array()) || node.is_absent() {
        return edit::replace_value(node, &yaml(value));
    }
    let plain = Plain::read(document);
    edit::replace_value(node, &rewrite::rewritten(document, node, &plain.value, value))
}

fn yaml(value: &Value) -> String {
    block::lines(value).join("\n")
}

fn insert(document: &Document, base: &Path, path: &Path, yaml: &str) -> Option<Vec<TextEdit>> {
    let parent = place::steps(base, &path.parent()?);
    match path.last()? {
        Segment::Key(key) => edit::insert_entry(document, &parent, key, yaml, position(key)),
        Segment::Index(number) => edit::insert_item(document, &parent, yaml, Some(*number)),
    }
}

/// Names come before what they name.
fn position(key: &str) -> edit::Position<'static> {
    match key {
        "apiVersion" | "id" | "name" => edit::Position::First,
        "kind" => edit::Position::After("apiVersion"),
        "metadata" => edit::Position::After("kind"),
        _ => edit::Position::Last,
    }
}

/// The edits of all preferred fixes that do not touch each other.
pub(crate) fn all(diagnostics: &[Diagnostic]) -> Vec<TextEdit> {
    let mut taken: Vec<TextEdit> = Vec::new();
    for diagnostic in diagnostics {
        let Some(fix) = diagnostic.fixes.iter().find(|fix| fix.preferred) else { continue };
        let free = |edit: &TextEdit| !taken.iter().any(|other| super::diagnostics::touches(edit.span, other.span));
        if fix.edits.iter().all(free) {
            taken.extend(fix.edits.iter().cloned());
        }
    }
    taken.sort_by_key(|edit| (edit.span.start, edit.span.end));
    taken
}

#[cfg(test)]
mod tests;
