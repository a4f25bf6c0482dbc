//! Which line a comment belongs to, so that it is indented like it.

use super::layout::{Column, Layout};
use super::lines::Lines;
use crate::ide::Span;
use llsd_yaml::{Comment, Document, edit::TextEdit};

/// Gives comment lines the column of what they stand beside: of the line below, else of the innermost collection that is
/// not further right. `columns` are sorted by line.
pub(super) fn own_lines(document: &Document, lines: &Lines<'_>, columns: &[Column], layout: &mut Layout) {
    let mut open: Vec<Column> = Vec::new();
    let mut next = 0;
    for comment in document.comments().iter().filter(|comment| comment.own_line) {
        let line = lines.number(comment.span.start);
        while let Some(column) = columns.get(next).filter(|column| column.line < line) {
            open.retain(|above| above.old < column.old);
            open.push(*column);
            next += 1;
        }
        if layout.columns[line].is_some() {
            // inside brackets: moves with its surroundings
            continue;
        }
        let old = lines.indentation(line).len();
        let below = columns.get(next);
        let first_child = |below: &&Column| open.last().is_some_and(|above| above.old < below.old && above.old <= old);
        let same = |column: &&Column| column.old == old;
        let owner = below
            .filter(|below| same(below) || first_child(below))
            .or_else(|| open.iter().rev().find(same))
            .or_else(|| open.iter().chain(below).filter(|column| column.old <= old).max_by_key(|column| column.old))
            .or(below);
        layout.columns[line] = owner.map(|owner| owner.new);
    }
}

/// Comments behind values that stood in one column on neighbouring lines do so again. Others keep their distance.
pub(super) fn behind_values(
    document: &Document,
    lines: &Lines<'_>,
    layout: &mut Layout,
    wanted: Option<(usize, usize)>,
) {
    let text = document.text();
    let behind: Vec<Behind> = document
        .comments()
        .iter()
        .filter(|comment| !comment.own_line)
        .filter_map(|comment| Behind::new(text, lines, layout, comment))
        .collect();
    let mut rest = behind.as_slice();
    while let Some(first) = rest.first() {
        let together = |pair: &[Behind]| pair[1].line == pair[0].line + 1 && pair[1].column == first.column;
        let count = 1 + rest.windows(2).take_while(|pair| together(pair)).count();
        let (group, others) = rest.split_at(count);
        rest = others;
        let inside = |one: &Behind| wanted.is_none_or(|(from, to)| (from..=to).contains(&one.line));
        if count < 2 || !group.iter().all(inside) {
            continue;
        }
        let gap = group.iter().map(|one| one.gap.len()).min().unwrap_or(1);
        let target = group.iter().map(|one| one.width).max().unwrap_or(0) + gap;
        for one in group.iter().filter(|one| one.width + one.gap.len() != target) {
            layout.edits.push(TextEdit::new(one.gap, " ".repeat(target - one.width)));
        }
    }
}

/// A comment behind a value.
struct Behind {
    line: usize,
    /// Its column now, in characters.
    column: usize,
    /// Characters before the gap once the line is moved.
    width: usize,
    /// The blanks in front of it.
    gap: Span,
}

impl Behind {
    /// `None` if tabs stand before it: then columns mean nothing.
    fn new(text: &str, lines: &Lines<'_>, layout: &Layout, comment: &Comment) -> Option<Self> {
        let line = lines.number(comment.span.start);
        let start = lines.start(line);
        let before = &text[start..comment.span.start];
        let code = before.trim_end_matches(' ');
        if before.contains('\t') || code.len() == before.len() {
            return None;
        }
        let old = lines.indentation(line).len();
        let moved = layout.columns[line].unwrap_or(old);
        let within = |edit: &&TextEdit| start <= edit.span.start && edit.span.end <= start + code.len();
        let (mut removed, mut added) = (old, moved);
        for edit in layout.edits.iter().filter(within) {
            removed += edit.span.len();
            added += edit.new_text.len();
        }
        Some(Self {
            line,
            column: before.chars().count(),
            width: (code.chars().count() + added).checked_sub(removed)?,
            gap: Span::new(start + code.len(), comment.span.start),
        })
    }
}
