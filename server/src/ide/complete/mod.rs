//! What could be written at the cursor.

mod apis;
mod config;
mod flow;
mod keys;
mod mention;
mod offer;
mod operation;
mod order;
mod outside;
mod popularity;
mod providers;
mod settings;
mod skeleton;
mod values;

use super::resource::Resource;
use super::schema::Schema;
use super::types::CompletionItem;
use super::{Analysis, Span, place};
use llsd_generator::path::{Path, Segment};
use llsd_yaml::Document;
use llsd_yaml::cursor::{Cursor, CursorPlace, cursor_at};
use offer::{Behind, Offer, Placed};

/// A cursor inside a resource.
struct Context<'a> {
    analysis: &'a Analysis,
    resource: &'a Resource,
    tree: &'a Document,
    /// The bytes that a completion replaces.
    at: Span,
    /// In front of it on its line, nothing but blanks.
    starts_line: bool,
    schema: Schema<'static>,
}

pub(crate) fn complete(analysis: &Analysis, offset: usize) -> Vec<CompletionItem> {
    let Some((located, offset)) = analysis.at(offset) else { return Vec::new() };
    let document = &located.document;
    if let Some((patch, inside)) = document.embedded_at(offset) {
        let offers = complete(&analysis.of_embedded(patch), inside).into_iter();
        return offers.filter_map(|item| patch.offer(document.tree(), located.offset, item)).collect();
    }
    let mut items = config::complete(document, offset).unwrap_or_else(|| {
        let cursor = cursor_at(document.tree(), offset);
        let starts_line = starts_line(document.tree().text(), &cursor);
        let offers = match document.resource_at(&place::path(&cursor.container)) {
            None => {
                operation::offers(analysis, document, &cursor).unwrap_or_else(|| outside::offers(document, &cursor))
            }
            Some(resource) => {
                let (tree, at, schema) = (document.tree(), cursor.replace, super::schema::of(resource.version));
                inside(&Context { analysis, resource, tree, at, starts_line, schema }, &cursor)
            }
        };
        finished(document.tree().text(), &cursor, offers)
    });
    for item in &mut items {
        item.insert.span = item.insert.span.shift(located.offset);
    }
    items
}

/// What stands in front of the cursor's place on its line.
fn head<'t>(text: &'t str, cursor: &Cursor) -> &'t str {
    text[..cursor.replace.start].rsplit(['\n', '\r']).next().unwrap_or_default()
}

/// Whether nothing but blanks stands in front of the cursor's place on its line.
fn starts_line(text: &str, cursor: &Cursor) -> bool {
    !cursor.flow && head(text, cursor).trim_start_matches(' ').is_empty()
}

/// Offers as items at the cursor of a text, in their order.
fn finished(text: &str, cursor: &Cursor, mut offers: Vec<Offer>) -> Vec<CompletionItem> {
    let head = head(text, cursor);
    if starts_line(text, cursor) && matches!(cursor.place, CursorPlace::Item { .. }) {
        offers = offers.into_iter().map(Offer::behind_dash).collect();
    }
    for offer in &mut offers {
        offer.spell_out(&cursor.prefix);
    }
    offers.sort_by_key(|offer| !starts_with(&offer.label, &cursor.prefix));
    let is_key = matches!(cursor.place, CursorPlace::Key { .. });
    let placed = Placed {
        span: cursor.replace,
        lead: lead(head),
        flow: cursor.flow,
        behind: behind(text, cursor, is_key, head.chars().count()),
    };
    let finished = |(order, offer): (usize, Offer)| {
        let mut item = offer.item(placed, order);
        if cursor.needs_space && !item.insert.new_text.starts_with('\n') {
            item.insert.new_text.insert(0, ' ');
        }
        item
    };
    offers.into_iter().enumerate().map(finished).collect()
}

/// Whether the name begins as was typed, upper and lower case alike.
fn starts_with(name: &str, typed: &str) -> bool {
    let mut letters = name.chars().flat_map(char::to_lowercase);
    typed.chars().flat_map(char::to_lowercase).all(|wanted| letters.next() == Some(wanted))
}

fn inside(context: &Context<'_>, cursor: &Cursor) -> Vec<Offer> {
    placed(context, cursor, &|steps| context.resource.relative(&place::path(steps)))
}

/// Offers at the cursor. `relative`: the place in the resource that steps of the document lead to.
fn placed(context: &Context<'_>, cursor: &Cursor, relative: &dyn Fn(&[llsd_yaml::Step]) -> Option<Path>) -> Vec<Offer> {
    match &cursor.place {
        CursorPlace::Key { existing } => match relative(&cursor.container) {
            Some(container) => keys::offers(context, &container, existing),
            None => Vec::new(),
        },
        CursorPlace::Value { path } => match relative(path) {
            Some(path) => values::offers(context, &path),
            None => Vec::new(),
        },
        CursorPlace::Item { path } => match relative(path) {
            Some(path) => item(context, path),
            None => Vec::new(),
        },
        CursorPlace::Comment | CursorPlace::None => Vec::new(),
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
fn lead(head: &str) -> usize {
    let after_indentation = head.trim_start_matches(' ');
    let dashes = after_indentation.trim_start_matches("- ");
    if dashes.trim_start_matches(' ').is_empty() { after_indentation.len() } else { 0 }
}

/// What stands behind the cursor. `column`: where what is written begins.
fn behind(text: &str, cursor: &Cursor, is_key: bool, column: usize) -> Behind {
    let rest = &text[cursor.replace.end..];
    let here = rest.trim_start_matches([' ', '\t']);
    let ends = |after: &str, flow: bool| {
        after.chars().next().is_none_or(|next| next.is_whitespace() || (flow && matches!(next, ',' | '}' | ']')))
    };
    if is_key && here.strip_prefix(':').is_some_and(|after| ends(after, cursor.flow)) {
        return Behind::Colon;
    }
    if cursor.flow {
        let adds = cursor.replace.is_empty() && !matches!(cursor.place, CursorPlace::Value { .. });
        let next = here.trim_start();
        if !adds || next.is_empty() || next.starts_with([',', '}', ']', '#']) {
            return Behind::Nothing;
        }
        return if next.len() == here.len() { Behind::Entry } else { Behind::EntryBelow };
    }
    let has_more = !(here.is_empty() || here.starts_with(['\n', '\r', '#']));
    if !is_key || has_more {
        return Behind::Nothing;
    }
    let below = here.lines().skip(1).find(|line| {
        let content = line.trim_start_matches(' ');
        !content.trim_end().is_empty() && !content.starts_with('#')
    });
    let farther = below.is_some_and(|line| line.len() - line.trim_start_matches(' ').len() > column);
    if farther { Behind::Lines } else { Behind::Nothing }
}
