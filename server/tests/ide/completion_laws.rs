//! What an offer does to the file it is accepted in.

use crate::ide::replay::files;
use crate::ide::replay::line_end;
use crate::ide::support::apply;
use llsd::ide::{self, CompletionItem, TextEdit, Workspace};
use llsd_yaml::{Span, Stream};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Every value with the keys above it, and how often that is there.
type Content = BTreeMap<String, usize>;

/// The text after an offer is accepted as editors do it: later lines are indented like the line of the cursor, and
/// the places to fill in hold their suggestion, or nothing.
fn accepted(text: &str, item: &CompletionItem) -> String {
    let written = if item.snippet { filled_in(&item.insert.new_text) } else { item.insert.new_text.clone() };
    let line = text[..item.insert.span.start].rsplit('\n').next().unwrap_or_default();
    let indentation = &line[..line.len() - line.trim_start_matches(' ').len()];
    let new_text = written.replace('\n', &format!("\n{indentation}"));
    apply(text, &[TextEdit { span: item.insert.span, new_text }])
}

fn filled_in(snippet: &str) -> String {
    let mut text = String::new();
    let (mut rest, mut open) = (snippet.chars().peekable(), 0);
    while let Some(next) = rest.next() {
        match next {
            '\\' => text.extend(rest.next()),
            '}' if open > 0 => open -= 1,
            '$' => {
                open += usize::from(rest.next_if_eq(&'{').is_some());
                while rest.next_if(|next| next.is_ascii_digit() || *next == ':').is_some() {}
            }
            other => text.push(other),
        }
    }
    text
}

/// Of the text but for what stands at `except`.
fn content(text: &str, except: Option<Span>) -> Content {
    let mut found = Content::new();
    for located in Stream::parse(text).documents() {
        let Some(root) = located.document.root() else { continue };
        let mut open = vec![(root, String::new())];
        while let Some((node, path)) = open.pop() {
            open.extend(node.items().map(|item| (item, format!("{path}[]"))));
            open.extend(node.entries().map(|entry| (entry.value, format!("{path}.{}", entry.key.key_text()))));
            let touched = |span: Span| except.is_some_and(|at| span.start <= at.end && at.start <= span.end);
            let spans = [Some(node), node.key()].into_iter().flatten().map(|node| node.span().shift(located.offset));
            if node.is_scalar() && !node.is_absent() && !spans.into_iter().any(touched) {
                *found.entry(format!("{path}: {}", node.value())).or_default() += 1;
            }
        }
    }
    found
}

fn is_kept(before: &Content, after: &str) -> Option<String> {
    let now = content(after, None);
    before
        .iter()
        .find(|(value, count)| now.get(*value).is_none_or(|there| there < count))
        .map(|(value, _)| value.clone())
}

fn is_sound(text: &str) -> bool {
    Stream::parse(text).documents().iter().all(|located| located.document.errors().is_empty())
}

/// Accepts each offer at the cursor, and tells of those after which the file is broken, or another value is gone.
fn harm(name: &str, text: &str, at: usize, found: &mut Vec<String>, whole: &Content) -> usize {
    let analysis = ide::analyse(text.into(), None, &Workspace::new());
    let offers = ide::complete(&analysis, at);
    if offers.is_empty() || !is_open(text, at, whole) {
        return 0;
    }
    let before = content(text, Some(offers[0].insert.span));
    for item in &offers {
        let after = accepted(text, item);
        let lost = is_kept(&before, &after);
        if is_sound(&after) && lost.is_none() {
            continue;
        }
        let mut shown = text.to_owned();
        shown.insert(at, '█');
        let line = text[..at].matches('\n').count();
        let cut = |text: &str| text.lines().skip(line.saturating_sub(2)).take(6).collect::<Vec<_>>().join("\n");
        found.push(format!("{name}: {} ({lost:?} lost)\n{}\nbecomes\n{}", item.label, cut(&shown), cut(&after)));
        break;
    }
    offers.len()
}

/// Cursors at which something can be written into the sound file: on an empty line below each line, at its column and
/// one level farther in; behind a dash; between brackets; behind the colon of a key without a value. Each with the text
/// that has the place.
fn places(text: &str) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    let insert = |at: usize, new: &str, back: usize| {
        let mut text = text.to_owned();
        text.insert_str(at, new);
        (text, at + new.len() - back)
    };
    let mut start = 0;
    while start < text.len() {
        let end = line_end(text, start);
        let line = &text[start..end];
        let indent = line.len() - line.trim_start_matches(' ').len();
        let dashed = line.trim_start_matches([' ', '-']);
        let column = line.len() - dashed.len();
        if !dashed.is_empty() {
            let step = if column == indent { column + 2 } else { indent };
            for column in [column, step] {
                found.push(insert(end, &format!("\n{}", " ".repeat(column)), 0));
                found.push(insert(end, &format!("\n{}- ", " ".repeat(column)), 0));
            }
        }
        start = end + 1;
    }
    for (at, sign) in text.match_indices(['{', '[', ',', ':']) {
        match sign {
            "{" => {
                if text[at + 1..].starts_with('}') {
                    found.push(insert(at + 1, "", 0));
                }
                found.push(insert(at + 1, " ", 1));
                found.push(insert(at + 1, ", ", 2));
            }
            "[" => found.push(insert(at + 1, ", ", 2)),
            "," => found.push(insert(at + 1, " ,", 1)),
            _ => found.push(insert(at + 1, "", 0)),
        }
    }
    found
}

/// Whether a word, an entry or an item could be written there.
fn is_open(text: &str, at: usize, whole: &Content) -> bool {
    ["zz: 1", "zz", "- zz", "zz: 1, ", "zz, "].iter().any(|word| {
        let mut text = text.to_owned();
        text.insert_str(at, word);
        is_sound(&text) && is_kept(whole, &text).is_none()
    })
}

#[test]
fn an_offer_never_breaks_the_file() {
    let files = files::all().into_par_iter().filter(|file| file.text.contains("LlamaStackDistribution"));
    let outcome: Vec<(usize, Vec<String>)> = files
        .filter(|file| !file.name.contains("cases") && is_sound(&file.text))
        .map(|file| {
            let (mut accepted, mut found) = (0, Vec::new());
            let whole = content(&file.text, None);
            for (text, at) in places(&file.text) {
                accepted += harm(&file.name, &text, at, &mut found, &whole);
            }
            (accepted, found)
        })
        .collect();
    let accepted: usize = outcome.iter().map(|(accepted, _)| accepted).sum();
    let found: Vec<_> = outcome.into_iter().flat_map(|(_, found)| found).collect();
    assert!(found.is_empty(), "{} of {accepted} offers harm\n{}", found.len(), found.join("\n\n"));
    assert!(accepted > 3_000, "only {accepted}");
}
