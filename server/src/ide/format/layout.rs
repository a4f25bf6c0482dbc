//! In which column each line of a document belongs.

use super::comments;
use super::lines::Lines;
use crate::ide::Span;
use llsd_yaml::{Document, Node, Style as Quotes, edit::TextEdit};

/// How a file is indented.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    /// Columns from a key to what lies below it.
    pub(super) step: usize,
    /// Whether dashes stand further right than their key.
    pub(super) dash: bool,
}

/// What becomes of each line.
pub(super) struct Layout {
    /// The column of the first character of each line; `None` for lines that stay as they are.
    pub(super) columns: Vec<Option<usize>>,
    /// Lines whose blanks at the end belong to a value, or whose break does.
    pub(super) verbatim: Vec<bool>,
    /// Changes of blanks inside of lines, such as those behind `:` and in front of comments.
    pub(super) edits: Vec<TextEdit>,
}

/// A collection's column, before and after, from one of its lines on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column {
    pub(super) line: usize,
    pub(super) old: usize,
    pub(super) new: usize,
}

/// The layout of a document; with `wanted`, of the lines from the first to the last of them: what is only partly inside
/// keeps its column. `None` for writings that are not understood well enough to be moved.
pub(super) fn layout(
    document: &Document,
    lines: &Lines<'_>,
    style: Style,
    wanted: Option<(usize, usize)>,
) -> Option<Layout> {
    let root = document.root().filter(|root| (root.is_mapping() || root.is_sequence()) && !root.is_flow())?;
    if (0..lines.len()).any(|number| lines.indentation(number).slice(document.text()).contains('\t')) {
        return None;
    }
    let layout = Layout { columns: vec![None; lines.len()], verbatim: vec![false; lines.len()], edits: Vec::new() };
    let mut walk = Walk { text: document.text(), lines, style, wanted, layout, columns: Vec::new() };
    document.nodes().for_each(|node| walk.keep_values(node));
    let mut open = vec![(root, walk.settled(root, 0))];
    while let Some((node, column)) = open.pop() {
        if node.is_mapping() {
            walk.mapping(node, column, &mut open)?;
        } else {
            walk.sequence(node, column, &mut open)?;
        }
    }
    let Walk { mut layout, mut columns, .. } = walk;
    columns.sort_by_key(|column| (column.line, column.old));
    comments::own_lines(document, lines, &columns, &mut layout);
    comments::behind_values(document, lines, &mut layout, wanted);
    Some(layout)
}

struct Walk<'d> {
    text: &'d str,
    lines: &'d Lines<'d>,
    style: Style,
    wanted: Option<(usize, usize)>,
    layout: Layout,
    columns: Vec<Column>,
}

impl<'d> Walk<'d> {
    /// Marks the lines whose blanks or breaks are part of a value.
    fn keep_values(&mut self, node: Node<'d>) {
        if !node.is_scalar() || node.is_absent() {
            return;
        }
        let (first, last) = self.range(node.span());
        match node.style() {
            Quotes::Literal | Quotes::Folded => {
                let mut last = last;
                if header(node).contains('+') {
                    while last + 1 < self.lines.len() && self.lines.is_blank(last + 1) {
                        last += 1;
                    }
                }
                self.layout.verbatim[(first + 1).min(last + 1)..=last].fill(true);
            }
            Quotes::Plain | Quotes::SingleQuoted | Quotes::DoubleQuoted if first < last => {
                self.layout.verbatim[first..last].fill(true);
            }
            _ => {}
        }
    }

    fn mapping(&mut self, node: Node<'d>, column: usize, open: &mut Vec<(Node<'d>, usize)>) -> Option<()> {
        for entry in node.entries() {
            let line = self.lines.number(entry.span.start);
            if self.lines.content(line) == entry.span.start {
                self.place(line, column);
            } else if entry.key.full_span().is_empty() || self.is_behind_question_mark(entry.span.start) {
                return None;
            }
            self.columns.push(Column { line, old: node.indent(), new: column });
            let value = entry.value;
            if value.is_absent() {
                continue;
            }
            let (starts, begins) = (self.lines.number(value.full_span().start), self.lines.number(value.span().start));
            if !is_block(value) {
                self.single(value, line, column, column + self.style.step);
                continue;
            }
            if begins == line {
                return None;
            }
            if starts != line && starts != begins {
                self.place(starts, column + self.style.step);
            }
            let deeper = if value.is_mapping() || self.style.dash { self.style.step } else { 0 };
            open.push((value, self.settled(value, column + deeper)));
        }
        Some(())
    }

    fn sequence(&mut self, node: Node<'d>, column: usize, open: &mut Vec<(Node<'d>, usize)>) -> Option<()> {
        for item in node.items() {
            let start = item.full_span().start;
            let dash = self.dash(start, node.indent())?;
            let line = self.lines.number(dash);
            if self.lines.content(line) == dash {
                self.place(line, column);
            }
            self.columns.push(Column { line, old: node.indent(), new: column });
            if item.is_absent() {
                continue;
            }
            let inside = self.settled(item, column + 2);
            let beside = self.lines.number(start) == line;
            let gap = Span::new(dash + 1, start);
            if beside && !gap.slice(self.text).bytes().all(|byte| byte == b' ') {
                return None;
            }
            let moves = !is_block(item) || inside == column + 2;
            if beside && gap.len() != 1 && moves && self.is_wanted(line) {
                self.layout.edits.push(TextEdit::new(gap, " "));
            }
            if !is_block(item) {
                self.single(item, line, column, column + 2);
                continue;
            }
            let begins = self.lines.number(item.span().start);
            if begins == line && item.span().start != start {
                return None;
            }
            open.push((item, inside));
        }
        Some(())
    }

    /// A value that is no block collection: at the column `below` if it stands on a line of its own. Its further lines
    /// move with the first.
    fn single(&mut self, node: Node<'d>, line: usize, parent: usize, below: usize) {
        let (first, last) = self.range(node.full_span());
        if first != line {
            self.place(first, below);
        }
        if matches!(node.style(), Quotes::Literal | Quotes::Folded) && node.is_scalar() {
            self.block(node, parent);
            return;
        }
        let old = self.lines.indentation(first).len();
        let new = self.layout.columns[first].unwrap_or(old);
        for number in first + 1..=last {
            if !self.lines.is_blank(number) {
                let moved = (self.lines.indentation(number).len() + new).saturating_sub(old);
                self.layout.columns[number] = Some(moved.max(parent + 1));
            }
        }
    }

    /// The lines of a literal or folded scalar keep their columns among each other.
    fn block(&mut self, node: Node<'d>, parent: usize) {
        let Some(block) = node.block() else { return };
        let (first, last) = self.range(node.span());
        let digit = header(node).chars().find_map(|sign| sign.to_digit(10));
        let new = match digit {
            Some(digit) => parent + digit as usize,
            None if self.is_inside(first, last) => parent + self.style.step,
            None => block.indent,
        };
        for number in first + 1..=last {
            let blanks = self.lines.indentation(number).len();
            self.layout.columns[number] = match blanks.checked_sub(block.indent) {
                Some(further) if further > 0 || !self.lines.is_blank(number) => Some(new + further),
                // fewer blanks than the others: an empty line
                _ => Some(0),
            };
        }
    }

    fn place(&mut self, line: usize, column: usize) {
        self.layout.columns[line] = Some(column);
    }

    /// The column of a block collection: its old one if a part of it must stay where it is.
    fn settled(&self, node: Node<'d>, column: usize) -> usize {
        let (first, last) = self.range(node.full_span());
        if is_block(node) && !self.is_inside(first, last) { node.indent() } else { column }
    }

    fn is_inside(&self, first: usize, last: usize) -> bool {
        self.wanted.is_none_or(|(from, to)| from <= first && last <= to)
    }

    fn is_wanted(&self, line: usize) -> bool {
        self.is_inside(line, line)
    }

    /// First and last line of a span.
    fn range(&self, span: Span) -> (usize, usize) {
        let last = if span.is_empty() { span.end } else { span.end - 1 };
        (self.lines.number(span.start), self.lines.number(last))
    }

    /// The dash of the item that starts at `start`, in its own line or one above.
    fn dash(&self, start: usize, column: usize) -> Option<usize> {
        let mut line = self.lines.number(start);
        loop {
            let place = self.lines.start(line) + column;
            if place < start && self.text.as_bytes().get(place) == Some(&b'-') {
                return Some(place);
            }
            // only blank lines, comments, and properties stand between a dash and its item
            line = line.checked_sub(1)?;
        }
    }

    fn is_behind_question_mark(&self, start: usize) -> bool {
        self.text[..start].trim_end_matches(' ').ends_with('?')
    }
}

fn is_block(node: Node<'_>) -> bool {
    (node.is_mapping() || node.is_sequence()) && !node.is_flow()
}

/// The first line of a block scalar: `|2-`.
fn header<'d>(node: Node<'d>) -> &'d str {
    node.block().map_or("", |block| block.header.slice(node.document().text()))
}
