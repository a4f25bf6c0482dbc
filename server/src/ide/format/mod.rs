//! Formatting: indentation, blanks at line ends, runs of blank lines, columns of comments. Nothing else changes: order,
//! quotes and values stay, and a text whose meaning could suffer is left alone.
//!
//! Lists stay the way the file mostly writes them: dashes below their key, or in its column as `kubectl` prints them.

mod comments;
mod layout;
mod lines;
mod same;

use super::config::Embedding;
use super::document::DocumentAnalysis;
use super::types::TextEdit;
use super::{Analysis, Span, fix};
use layout::Style;
use lines::Lines;
use llsd_yaml::{BlockScalar, Document, Kind, edit, parse_document};

/// Columns per level that are taken from an editor; beyond these its answer is no style of YAML.
const INDENT: std::ops::RangeInclusive<usize> = 2..=8;

/// What the editor asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FormatOptions {
    /// Columns of one level of indentation; taken between 2 and 8.
    pub indent: usize,
    /// Whether blanks at line ends go.
    pub trim_trailing: bool,
    /// Whether the last line gets a line break.
    pub final_newline: bool,
    /// Whether blank lines at the end of the file go.
    pub trim_final_newlines: bool,
}

impl Default for FormatOptions {
    fn default() -> Self {
        Self { indent: 2, trim_trailing: true, final_newline: true, trim_final_newlines: true }
    }
}

/// The edits that format the documents of resources, configs, Secrets and ConfigMaps; those that touch `range`, if it is given.
/// Every edit replaces blanks by blanks. Documents that are not well-formed, and templates, get none.
pub(crate) fn format(analysis: &Analysis, range: Option<Span>, options: &FormatOptions) -> Vec<TextEdit> {
    let ours: Vec<_> = analysis.documents().filter(|located| is_ours(located.document)).collect();
    let trees = ours.iter().map(|located| located.document.tree().as_ref());
    let style = Style { step: options.indent.clamp(*INDENT.start(), *INDENT.end()), dash: dash_is_deeper(trees) };
    let length = analysis.file.bytes();
    let mut edits = Vec::new();
    for located in ours {
        let document = located.document.tree();
        let end = located.offset + document.text().len();
        let inside = match range {
            None => None,
            Some(range) if range.start < end && located.offset <= range.end => Some(Span::new(
                range.start.saturating_sub(located.offset),
                range.end.min(end).saturating_sub(located.offset),
            )),
            Some(_) => continue,
        };
        let is_last = end == length;
        let found = with_configs(located.document, inside, style, options, is_last);
        edits.extend(found.into_iter().map(|edit| edit.shift(located.offset)));
    }
    edits
}

/// The edits of a document and of the configs in its texts.
fn with_configs(
    document: &DocumentAnalysis,
    range: Option<Span>,
    style: Style,
    options: &FormatOptions,
    is_last: bool,
) -> Vec<TextEdit> {
    let tree = document.tree();
    if speaks_against_it(tree) {
        return Vec::new();
    }
    let own = |edit: edit::TextEdit| TextEdit { span: edit.span, new_text: edit.new_text };
    let outer = |tree: &Document, range| -> Vec<TextEdit> {
        of_document(tree, range, style, options, is_last).into_iter().map(own).collect()
    };
    let mut changed = tree.text().to_owned();
    // From the end on, so that places in front stay what they are.
    for config in document.configs().iter().rev() {
        let Embedding::Block(block) = config.embedding() else { continue };
        let part = match range {
            None => None,
            Some(range) if range.start <= block.content.end && block.content.start <= range.end => {
                let at = |outer: usize| block.inner(outer.clamp(block.content.start, block.content.end));
                at(range.start).zip(at(range.end)).map(|(start, end)| Span::new(start, end))
            }
            Some(_) => continue,
        };
        let edits = of_document(config.tree(), part, style, options, false);
        if !edits.is_empty() && is_plain(block, tree.text()) {
            rewrite(&mut changed, block, &edit::apply(config.tree().text(), &edits));
        }
    }
    if changed == tree.text() {
        return outer(tree, range);
    }
    // What is around is formatted once the texts are: both may move the same lines.
    let around = if range.is_some() { Vec::new() } else { outer(&parse_document(&changed), None) };
    let around: Vec<_> = around.into_iter().map(|one| edit::TextEdit::new(one.span, one.new_text)).collect();
    let edits = fix::difference(tree.text(), &edit::apply(&changed, &around));
    edits.into_iter().flat_map(|edit| narrow(tree.text(), edit)).collect()
}

/// An edit of whole lines as edits of the blanks around what stands on each, where no line comes or goes and nothing moves
/// inside of one.
fn narrow(text: &str, edit: TextEdit) -> Vec<TextEdit> {
    let old: Vec<&str> = edit.span.slice(text).split_inclusive('\n').collect();
    let new: Vec<&str> = edit.new_text.split_inclusive('\n').collect();
    if old.len() != new.len() || old.iter().zip(&new).any(|(old, new)| old.trim() != new.trim()) {
        return vec![edit];
    }
    let (mut start, mut edits) = (edit.span.start, Vec::new());
    for (old, new) in old.into_iter().zip(new) {
        let content = old.trim();
        let (before, behind) = (old.find(content).unwrap_or(0), new.find(content).unwrap_or(0));
        let parts = [(0, before, &new[..behind]), (before + content.len(), old.len(), &new[behind + content.len()..])];
        for (from, to, new_text) in parts.into_iter().filter(|(from, to, new)| old[*from..*to] != **new) {
            edits.push(TextEdit { span: Span::new(start + from, start + to), new_text: new_text.to_owned() });
        }
        start += old.len();
    }
    edits
}

/// Whether each line of a literal text is one of the document, and ends as others do.
fn is_plain(block: &BlockScalar, text: &str) -> bool {
    let content = block.content.slice(text);
    !content.contains('\r') && content.split('\n').count() == block.pieces.len()
}

/// Puts another text in place of a literal one.
fn rewrite(text: &mut String, block: &BlockScalar, inner: &str) {
    let indent = " ".repeat(block.indent);
    let line = |line: &str| if line.is_empty() { String::new() } else { format!("{indent}{line}") };
    let lines: Vec<String> = inner.trim_end_matches('\n').split('\n').map(line).collect();
    text.replace_range(block.content.start..block.content.end, &lines.join("\n"));
}

/// Whether the product speaks of the document at all.
fn is_ours(document: &DocumentAnalysis) -> bool {
    !document.resources().is_empty()
        || !document.configs().is_empty()
        || (document.objects().kustomization.is_none() && document.objects().names().next().is_some())
}

/// Whether most lists below keys stand further right than their key. Without a majority the first one decides.
fn dash_is_deeper<'d>(documents: impl Iterator<Item = &'d Document>) -> bool {
    let (mut deeper, mut level, mut first) = (0_usize, 0_usize, None);
    for node in documents.flat_map(Document::nodes) {
        let Some(parent) = node.parent().filter(|parent| parent.is_mapping() && !parent.is_flow()) else { continue };
        if node.kind() == Kind::Sequence && !node.is_flow() {
            let right = node.indent() > parent.indent();
            first.get_or_insert(right);
            *(if right { &mut deeper } else { &mut level }) += 1;
        }
    }
    if deeper == level { first.unwrap_or(true) } else { deeper > level }
}

/// Whether a document is left as it is: it is broken, or a template.
fn speaks_against_it(document: &Document) -> bool {
    let template = document.text().contains("{{") || !document.skipped().is_empty();
    template || !document.errors().is_empty() || document.strict_error().is_some()
}

/// The edits of one document; none where something speaks against touching it.
fn of_document(
    document: &Document,
    range: Option<Span>,
    style: Style,
    options: &FormatOptions,
    is_last: bool,
) -> Vec<TextEdit> {
    if speaks_against_it(document) {
        return Vec::new();
    }
    let text = document.text();
    let lines = Lines::new(text);
    let wanted = range.map(|range| (lines.number(range.start), lines.number(last_touched(range))));
    let Some(layout) = layout::layout(document, &lines, style, wanted) else { return Vec::new() };
    let mut edits = layout.edits;
    let is_wanted = |number: usize| wanted.is_none_or(|(first, last)| (first..=last).contains(&number));
    for number in (0..lines.len()).filter(|number| is_wanted(*number)) {
        if let Some(column) = layout.columns[number] {
            let old = lines.indentation(number);
            if old.len() != column {
                edits.push(TextEdit::new(old, " ".repeat(column)));
            }
        }
        let blanks = lines.trailing(number);
        if options.trim_trailing && !layout.verbatim[number] && !blanks.is_empty() {
            edits.push(TextEdit::new(blanks, ""));
        }
    }
    edits.extend(blank_lines(&lines, &layout.verbatim, is_last && options.trim_final_newlines, is_wanted));
    if is_last
        && options.final_newline
        && !text.is_empty()
        && !text.ends_with(['\n', '\r'])
        && is_wanted(lines.len() - 1)
    {
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        edits.push(TextEdit::new(Span::empty(text.len()), newline));
    }
    edits.sort_by_key(|edit| (edit.span.start, edit.span.end));
    let edits = merged(text, edits);
    // the last word: what was read before must be read again
    if edits.is_empty() || !same::same(document, &edit::apply(text, &edits)) {
        return Vec::new();
    }
    edits
}

/// The last byte that a range has a part in: a range that ends at the start of a line leaves that line alone.
fn last_touched(range: Span) -> usize {
    if range.is_empty() { range.end } else { range.end - 1 }
}

/// Of several blank lines one stays; at the end of the file none.
fn blank_lines(
    lines: &Lines<'_>,
    verbatim: &[bool],
    to_the_end: bool,
    is_wanted: impl Fn(usize) -> bool,
) -> Vec<TextEdit> {
    let is_blank = |number: usize| lines.is_blank(number) && !verbatim[number] && is_wanted(number);
    let mut edits = Vec::new();
    let mut number = 0;
    while number < lines.len() {
        let first = number;
        while number < lines.len() && is_blank(number) {
            number += 1;
        }
        let ends = number == lines.len();
        let keep = usize::from(!(ends && to_the_end && first > 0));
        if number - first > keep {
            let span = Span::new(lines.start(first + keep), lines.start(number));
            edits.push(TextEdit::new(span, ""));
        }
        number = number.max(first) + usize::from(number == first);
    }
    edits
}

/// Without edits that lie inside another one, and without those that change nothing.
fn merged(text: &str, edits: Vec<TextEdit>) -> Vec<TextEdit> {
    let mut kept: Vec<TextEdit> = Vec::new();
    for edit in edits {
        if edit.span.slice(text) == edit.new_text {
            continue;
        }
        match kept.last_mut() {
            Some(last) if edit.span.start < last.span.end => {
                if edit.span.end > last.span.end {
                    last.span.end = edit.span.end;
                }
            }
            // removed lines swallow what would be done inside them
            Some(last)
                if edit.span.start == last.span.start && edit.new_text.is_empty() && last.new_text.is_empty() =>
            {
                last.span.end = last.span.end.max(edit.span.end);
            }
            _ => kept.push(edit),
        }
    }
    kept
}
