//! JSON 6902 operations written anew in their text: what stays of them stays as it was written.

use super::outcome::NotMigrated;
use crate::ide::block;
use crate::ide::types::TextEdit;
use llsd_generator::fold;
use llsd_generator::kustomize::Operations;
use llsd_yaml::{Document, Node, Style, edit};
use serde_json::Value;

/// The edits that make `written`, which is the whole document, do what `make` says of each operation, by its number: the
/// operations that take its place.
pub(super) fn rewritten(
    tree: &Document,
    written: &Operations,
    mut make: impl FnMut(usize, &Value) -> Result<Vec<Value>, NotMigrated>,
) -> Result<Vec<TextEdit>, NotMigrated> {
    if let Some(error) = tree.errors().first() {
        return Err(NotMigrated::NotWellFormed { message: error.message.clone() });
    }
    let root = tree.root().ok_or(NotMigrated::NoResource)?;
    let mut edits = Vec::new();
    for (number, old) in written.iter().enumerate() {
        let new = make(number, old)?;
        let item = root.item(number).filter(|item| item.is_mapping()).ok_or(NotMigrated::NoResource)?;
        edits.extend(replaced(tree, item, number, old, &new)?);
    }
    Ok(edits)
}

/// One operation by those that take its place.
fn replaced(
    tree: &Document,
    item: Node<'_>,
    number: usize,
    old: &Value,
    new: &[Value],
) -> Result<Vec<TextEdit>, NotMigrated> {
    let Some((first, more)) = new.split_first() else {
        // nothing is left to do: a test of nothing does it
        return Err(NotMigrated::Unmoved(fold::Unmoved::Operation(number)));
    };
    let mut edits = Vec::new();
    for field in ["op", "path", "from", "value"] {
        let (before, after) = (old.get(field), first.get(field));
        if before == after {
            continue;
        }
        match (item.get(field), after) {
            (Some(node), Some(Value::String(text))) if node.is_scalar() && field != "value" => {
                edits.push(scalar(node, text));
            }
            (Some(node), Some(value)) if node.is_flow() || item.is_flow() || node.is_scalar() && is_flow(value) => {
                edits.push(TextEdit { span: node.span(), new_text: value.to_string() });
            }
            (Some(node), Some(value)) => {
                let edit = edit::replace_value(node, &block::lines(value).join("\n"));
                edits.extend(edit.into_iter().map(own));
            }
            (None, Some(value)) => {
                let steps = item.path();
                let text = block::lines(value).join("\n");
                let edit = edit::insert_entry(tree, &steps, field, &text, edit::Position::Last);
                edits.extend(edit.ok_or(NotMigrated::Flow)?.into_iter().map(own));
            }
            (Some(node), None) => edits.extend(edit::remove_entry(node).into_iter().map(own)),
            (None, None) => {}
        }
    }
    for one in more {
        let is_flow = item.parent().is_some_and(|list| list.is_flow());
        let text = if is_flow { one.to_string() } else { block::lines(one).join("\n") };
        let steps = item.parent().map(|list| list.path()).unwrap_or_default();
        let edit = edit::insert_item(tree, &steps, &text, Some(number + 1));
        edits.extend(edit.ok_or(NotMigrated::Flow)?.into_iter().map(own));
    }
    Ok(edits)
}

/// Whether a value reads well on one line.
fn is_flow(value: &Value) -> bool {
    !matches!(value, Value::Array(_) | Value::Object(_))
}

/// A scalar with another text, in the quotes that it has.
pub(super) fn scalar(node: Node<'_>, text: &str) -> TextEdit {
    let new_text = match node.style() {
        Style::DoubleQuoted => Value::from(text).to_string(),
        Style::SingleQuoted => format!("'{}'", text.replace('\'', "''")),
        _ => edit::quote_scalar(text).into_owned(),
    };
    TextEdit { span: node.span(), new_text }
}

fn own(edit: edit::TextEdit) -> TextEdit {
    TextEdit { span: edit.span, new_text: edit.new_text }
}
