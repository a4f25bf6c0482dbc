//! What could be written at the cursor.

mod habit;
mod keys;
mod offer;
mod outside;
mod settings;
mod skeleton;
mod values;

use super::document::Resource;
use super::schema::Schema;
use super::types::CompletionItem;
use super::{Analysis, place};
use llsd_generator::path::{Path, Segment};
use llsd_yaml::cursor::{Cursor, Place, cursor_at};
use offer::Offer;

/// A cursor inside a resource.
struct Context<'a> {
    analysis: &'a Analysis,
    resource: &'a Resource,
    schema: Schema<'static>,
}

pub(crate) fn complete(analysis: &Analysis, offset: usize) -> Vec<CompletionItem> {
    let Some((located, offset)) = analysis.at(offset) else { return Vec::new() };
    let document = &located.document;
    let cursor = cursor_at(document.tree(), offset);
    let offers = match document.resource_at(&place::path(&cursor.container)) {
        None => outside::offers(document, &cursor),
        Some(resource) => {
            let context = Context { analysis, resource, schema: super::schema::of(resource.version) };
            inside(&context, &cursor)
        }
    };
    let text = document.tree().text();
    let lead = lead(text, cursor.replace.start);
    let keyed = followed_by_colon(text, cursor.replace.end);
    let mut offers = offers;
    for offer in &mut offers {
        offer.spell_out(&cursor.prefix);
    }
    offers.sort_by_key(|offer| !starts_with(&offer.label, &cursor.prefix));
    offers
        .into_iter()
        .enumerate()
        .map(|(order, offer)| {
            let mut item = offer.item(cursor.replace.shift(located.offset), lead, keyed, order);
            if cursor.needs_space && !item.insert.new_text.starts_with('\n') {
                item.insert.new_text.insert(0, ' ');
            }
            item
        })
        .collect()
}

/// Whether the name begins as was typed, upper and lower case alike.
fn starts_with(name: &str, typed: &str) -> bool {
    let mut letters = name.chars().flat_map(char::to_lowercase);
    typed.chars().flat_map(char::to_lowercase).all(|wanted| letters.next() == Some(wanted))
}

fn inside(context: &Context<'_>, cursor: &Cursor) -> Vec<Offer> {
    let relative = |steps: &[llsd_yaml::Step]| context.resource.relative(&place::path(steps));
    let Some(container) = relative(&cursor.container) else { return Vec::new() };
    match &cursor.place {
        Place::Key { existing } => keys::offers(context, &container, existing),
        Place::Value { path } => match relative(path) {
            Some(path) => values::offers(context, &path),
            None => Vec::new(),
        },
        Place::Item { path } => match relative(path) {
            Some(path) => item(context, path),
            None => Vec::new(),
        },
        Place::Comment | Place::None => Vec::new(),
    }
}

/// A list item that nothing is written of yet: a value, or the first key of an object.
fn item(context: &Context<'_>, path: Path) -> Vec<Offer> {
    let path = match path.last() {
        Some(Segment::Index(_)) => path,
        _ => path.index(0),
    };
    match context.schema.at(&path) {
        Some(schema) if schema.is_object() => keys::offers(context, &path, &[]),
        _ => values::offers(context, &path),
    }
}

/// How many columns the place lies to the right of its line's indentation: those of `- ` before it. Editors indent
/// the lines of an insertion like the line they start on, so later lines need these columns on top.
fn lead(text: &str, at: usize) -> usize {
    let line = text[..at].rsplit('\n').next().unwrap_or_default();
    let after_indentation = line.trim_start_matches(' ');
    let dashes = after_indentation.trim_start_matches("- ");
    if dashes.is_empty() { after_indentation.len() } else { 0 }
}

fn followed_by_colon(text: &str, at: usize) -> bool {
    text[at..].split('\n').next().is_some_and(|rest| {
        rest.trim_start_matches(' ')
            .strip_prefix(':')
            .is_some_and(|after| after.is_empty() || after.starts_with([' ', '\r']))
    })
}
