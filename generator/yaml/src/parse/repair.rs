//! Further readings of a broken text, each with one line mended, and the choice between them.
//!
//! The parser reads a broken text as well as one pass can. Where lines were joined, glued, moved or lost a sign, what
//! stands below tells more than what stands above; so the line of the first fault, and those above it, are mended in
//! every way that is likely, and the reading that leaves least in doubt is taken.

use std::borrow::Cow;

use super::plausible::{Habits, doubt};
use super::scan::{self, Stop};
use super::{Parser, Reading, line};
use crate::split::next_line;
use crate::tree::{NONE, NodeData, Style, UNCLOSED};
use crate::{Span, SyntaxError};

/// Longer texts are not mended: each reading costs as much as the first.
pub(super) const LONGEST: usize = 1 << 20;
/// Bytes that all readings of one text may cost together, but for a few that every text gets.
const BUDGET: usize = 1 << 20;
/// With more errors than this, one line more or less says nothing.
const MOST_ERRORS: usize = 100;
/// Faults that are mended one after the other.
const ROUNDS: usize = 4;

/// Longer lines are not mended: what to split is looked for from each of their bytes.
const LONGEST_LINE: usize = 1 << 11;
/// How many lines are looked at to find the levels above a line.
const LINES_ABOVE: usize = 200;

// Prices of changes, in the unit of `plausible`.

/// A line with a word is left out.
const LEFT_OUT: i32 = 8;
/// A line that starts with a sign is left out.
const SIGNS_LEFT_OUT: i32 = 5;
/// A line is moved to another column.
const MOVED: i32 = 5;
/// The sign at the start of a line is dropped.
const SIGN_DROPPED: i32 = 5;
/// A dash is put in.
const DASH_ADDED: i32 = 8;
/// A dash is dropped.
const DASH_DROPPED: i32 = 12;
/// A line is split in two.
const SPLIT: i32 = 7;
/// The value of a key is left out.
const VALUE_LEFT_OUT: i32 = 9;
/// What stands behind a text block's header is left out.
const HEADER_CUT: i32 = 7;
/// A colon is put in.
const COLON_ADDED: i32 = 11;
/// A blank is put in.
const BLANK_ADDED: i32 = 4;
/// Each line between the error and the change.
const FARTHER: i32 = 3;

/// Replaces bytes of the text.
#[derive(Clone, Debug)]
struct Change {
    span: Span,
    with: Vec<u8>,
    /// What speaks against this change, in the unit of `plausible`.
    price: i32,
    /// By how many columns a line is moved.
    shift: u32,
    kind: What,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum What {
    Left,
    Moved,
    Split,
    Sign,
}

/// A text with some lines mended, and where its bytes come from.
struct Draft<'t> {
    text: &'t str,
    bytes: Cow<'t, [u8]>,
    /// Offset in the text of each byte and of the end; empty as long as nothing moved.
    origin: Vec<u32>,
    notes: Vec<SyntaxError>,
    reading: Reading,
    doubt: i32,
}

/// Mends what can be mended. `None` if the first reading is the best.
pub(super) fn mend(text: &str, reading: Reading) -> Reading {
    let bytes = text.as_bytes();
    if bytes.len() > LONGEST || !(1..=MOST_ERRORS).contains(&reading.errors.len()) {
        return reading;
    }
    if is_being_typed(bytes, &reading) {
        return reading;
    }
    let habits = Habits::of(bytes);
    let step = habits.step;
    let first = doubt(bytes, &reading, habits);
    let mut draft =
        Draft { text, bytes: Cow::Borrowed(bytes), origin: Vec::new(), notes: Vec::new(), reading, doubt: first };
    let mut left = (BUDGET / bytes.len().max(1)).max(3);
    for _ in 0..ROUNDS {
        let Some(place) = draft.reading.errors.iter().map(|e| e.span.start).min() else { break };
        let mut best: Option<((i32, u32), Change, Reading, i32)> = None;
        for change in changes(&draft.bytes, place, step) {
            if left == 0 {
                break;
            }
            left -= 1;
            let copy = apply(&draft.bytes, &change);
            let mut parser = Parser::new(&copy);
            parser.distrust = true;
            parser.step = line::usual_step(&copy);
            parser.run();
            let reading = parser.done();
            let doubt = doubt(&copy, &reading, habits);
            let total = (doubt + change.price, change.shift);
            if total < best.as_ref().map_or((draft.doubt, 0), |b| b.0) {
                best = Some((total, change, reading, doubt));
            }
        }
        let Some((_, change, reading, doubt)) = best else { break };
        draft.adopt(&change, reading, doubt);
    }
    draft.finish()
}

/// Whether all that is wrong is the end of one line that is being typed: a key without its colon, or a value whose
/// quote or bracket is still open, with nothing below it.
fn is_being_typed(bytes: &[u8], reading: &Reading) -> bool {
    let Some(first) = reading.errors.iter().map(|e| e.span.start).min() else { return false };
    let Some(line) = looked_at(bytes, line_at(bytes, first)) else { return false };
    let below = below(bytes, line.span);
    if !reading.errors.iter().all(|e| touches(line.span, e)) || below.is_some_and(|b| b.indent > line.indent) {
        return false;
    }
    let open =
        |node: &NodeData| node.flags & UNCLOSED != 0 && (line.content..line.span.end).contains(&(node.start as usize));
    let text = &bytes[line.content..line.span.end];
    // Dashes become a list item or the marker of a document.
    let half = is_half_key(text) || text.trim_ascii_end().iter().all(|b| *b == b'-');
    (reading.errors.len() == 1 && half) || reading.tree.nodes.iter().any(open)
}

impl Draft<'_> {
    fn adopt(&mut self, change: &Change, reading: Reading, doubt: i32) {
        let line = line_at(&self.bytes, change.span.start);
        let own: Vec<SyntaxError> =
            self.reading.errors.iter().filter(|e| touches(line, e)).cloned().map(|e| self.place(e)).collect();
        let note = match change.kind {
            What::Split => {
                vec![self.place(SyntaxError {
                    span: Span::new(change.span.end, scan::line_end(&self.bytes, change.span.end)),
                    message: "a second key on one line; put it on a line of its own".to_owned(),
                })]
            }
            What::Moved => vec![self.place(SyntaxError {
                span: Span::new(change.span.end, line.end),
                message: "this line's indentation fits none of the levels around it".to_owned(),
            })],
            What::Left | What::Sign if !own.is_empty() => own,
            What::Left | What::Sign => {
                let first = self.reading.errors.iter().min_by_key(|e| e.span.start).cloned();
                first.map(|e| self.place(e)).into_iter().collect()
            }
        };
        self.notes.extend(note);
        let bytes = apply(&self.bytes, change);
        if change.with.len() != change.span.len() || !self.origin.is_empty() {
            let origin = |at: usize| self.origin.get(at).copied().unwrap_or(at as u32);
            let mut map: Vec<u32> = (0..change.span.start).map(origin).collect();
            // What was put in stands where the bytes stood that it replaces.
            map.extend((0..change.with.len()).map(|i| origin((change.span.start + i).min(change.span.end))));
            map.extend((change.span.end..=self.bytes.len()).map(origin));
            self.origin = map;
        }
        self.bytes = Cow::Owned(bytes);
        self.reading = reading;
        self.doubt = doubt;
    }

    /// An error with the positions of the text.
    fn place(&self, mut error: SyntaxError) -> SyntaxError {
        error.span = self.back(error.span);
        error
    }

    fn back(&self, span: Span) -> Span {
        let start = self.offset(span.start);
        Span::new(start, self.offset(span.end).max(start))
    }

    /// The offset in the text, never inside a character.
    fn offset(&self, at: usize) -> usize {
        let at = self.origin.get(at).or(self.origin.last()).map_or(at, |origin| *origin as usize);
        (0..=at).rev().find(|i| self.text.is_char_boundary(*i)).unwrap_or(0)
    }

    fn finish(mut self) -> Reading {
        let mut reading = std::mem::replace(
            &mut self.reading,
            Reading { tree: Default::default(), comments: Vec::new(), skipped: Vec::new(), errors: Vec::new() },
        );
        if matches!(self.bytes, Cow::Owned(_)) {
            let at = |i: u32| self.offset(i as usize) as u32;
            for node in &mut reading.tree.nodes {
                node.start = at(node.start);
                node.end = at(node.end).max(node.start);
                if matches!(node.style, Style::Literal | Style::Folded) && node.first != NONE {
                    node.first = at(node.first);
                    node.last = at(node.last);
                }
            }
            for props in &mut reading.tree.props {
                props.anchor = props.anchor.map(|s| self.back(s));
                props.tag = props.tag.map(|s| self.back(s));
            }
            for comment in &mut reading.comments {
                comment.span = self.back(comment.span);
            }
            for skipped in &mut reading.skipped {
                skipped.span = self.back(skipped.span);
            }
            for error in &mut reading.errors {
                error.span = self.back(error.span);
            }
        }
        reading.errors.append(&mut self.notes);
        reading
    }
}

fn apply(bytes: &[u8], change: &Change) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() + change.with.len());
    out.extend_from_slice(&bytes[..change.span.start]);
    out.extend_from_slice(&change.with);
    out.extend_from_slice(&bytes[change.span.end..]);
    out
}

fn touches(line: Span, error: &SyntaxError) -> bool {
    (line.start..=line.end).contains(&error.span.start)
}

/// A line with content, as far as its place matters.
#[derive(Clone, Copy, Debug)]
struct Line {
    span: Span,
    indent: i32,
    content: usize,
    dash: bool,
}

fn line_at(bytes: &[u8], at: usize) -> Span {
    let at = at.min(bytes.len());
    let start = memchr::memrchr2(b'\n', b'\r', &bytes[..at]).map_or(0, |i| i + 1);
    Span::new(start, scan::line_end(bytes, start))
}

fn looked_at(bytes: &[u8], span: Span) -> Option<Line> {
    let (spaces, content) = scan::indentation(bytes, span.start);
    let skipped = line::is_conflict(bytes, span.start) || line::template_line(bytes, content).is_some();
    if content >= span.end || bytes[content] == b'#' || skipped {
        return None;
    }
    let dash = bytes[content] == b'-' && bytes.get(content + 1).is_none_or(|b| scan::is_white(*b));
    Some(Line { span, indent: spaces as i32, content, dash })
}

fn above(bytes: &[u8], line: Span) -> Option<Line> {
    let mut start = line.start;
    for _ in 0..LINES_ABOVE {
        if start == 0 {
            break;
        }
        let above = line_at(bytes, start - 1);
        if let Some(line) = looked_at(bytes, above) {
            return Some(line);
        }
        start = above.start;
    }
    None
}

fn below(bytes: &[u8], line: Span) -> Option<Line> {
    let mut start = next_line(bytes, line.end);
    for _ in 0..LINES_ABOVE {
        if start >= bytes.len() {
            break;
        }
        let here = line_at(bytes, start);
        if let Some(line) = looked_at(bytes, here) {
            return Some(line);
        }
        start = next_line(bytes, here.end);
    }
    None
}

/// Columns at which a line at this place could stand, the likeliest first.
fn columns(bytes: &[u8], line: &Line, step: i32) -> Vec<i32> {
    let mut out: Vec<i32> = Vec::new();
    let mut add = |column: i32| {
        if column >= 0 && !out.contains(&column) && out.len() < 10 {
            out.push(column);
        }
    };
    let above_line = above(bytes, line.span);
    if let Some(b) = below(bytes, line.span) {
        add(b.indent);
        add(b.indent - step);
        if b.dash {
            add(b.indent + 2);
        }
    }
    let mut at = above_line;
    let mut limit = i32::MAX;
    for _ in 0..LINES_ABOVE {
        let Some(a) = at else { break };
        if a.indent < limit {
            if a.dash {
                add(a.indent + 2);
            }
            add(a.indent);
            if limit == i32::MAX {
                add(a.indent + step);
            }
            limit = a.indent;
        }
        if limit == 0 {
            break;
        }
        at = above(bytes, a.span);
    }
    out
}

fn changes(bytes: &[u8], place: usize, step: i32) -> Vec<Change> {
    let mut out = Vec::new();
    let first = line_at(bytes, place);
    let mut next = looked_at(bytes, first).or_else(|| above(bytes, first));
    for distance in 0..3 {
        let Some(line) = next else { break };
        let from = out.len();
        of_line(bytes, &line, step, &mut out);
        if line.content > 0 {
            comment_above(bytes, &line, step, &mut out);
        }
        for change in &mut out[from..] {
            change.price += FARTHER * distance;
        }
        next = above(bytes, line.span);
    }
    out
}

/// Whether an entry starts at `at`: a word and a colon behind it.
fn entry_at(bytes: &[u8], at: usize, end: usize) -> bool {
    bytes.get(at).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_')
        && matches!(scan::plain_line(&bytes[..end], at, false).1, Stop::Colon(_))
}

/// An entry that was joined to the comment above the line.
fn comment_above(bytes: &[u8], line: &Line, step: i32, out: &mut Vec<Change>) {
    if line.span.start == 0 {
        return;
    }
    let span = line_at(bytes, line.span.start - 1);
    if span.len() > LONGEST_LINE {
        return;
    }
    let Some(sign) = memchr::memchr(b'#', &bytes[span.start..span.end]) else { return };
    let columns = columns(bytes, &Line { span, indent: 0, content: span.start, dash: false }, step);
    let starts = (span.start + sign + 1..span.end).filter(|i| {
        let dash = bytes[*i] == b'-' && bytes.get(*i + 1) == Some(&b' ') && entry_at(bytes, *i + 2, span.end);
        dash || (bytes[i - 1] == b' ' && entry_at(bytes, *i, span.end) && !bytes[*i..span.end].contains(&b' '))
    });
    for start in starts.take(2) {
        for column in columns.iter().take(5) {
            let mut with = vec![b'\n'];
            with.resize(1 + *column as usize, b' ');
            out.push(Change { span: Span::empty(start), with, price: SPLIT, shift: 0, kind: What::Split });
        }
    }
}

/// Whether a line holds one word, perhaps behind a dash and in front of a comment.
fn is_half_key(text: &[u8]) -> bool {
    let text = text.strip_prefix(b"- ").unwrap_or(text);
    let (end, stop) = scan::plain_line(text, 0, false);
    let word = text[..end].trim_ascii();
    !matches!(stop, Stop::Colon(_))
        && word.iter().any(u8::is_ascii_alphanumeric)
        && word.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'/'))
}

fn of_line(bytes: &[u8], line: &Line, step: i32, out: &mut Vec<Change>) {
    let Line { span, content, .. } = *line;
    if span.len() > LONGEST_LINE {
        return;
    }
    let text = &bytes[content..span.end];
    let mut push = |span: Span, with: Vec<u8>, price: i32, kind: What| {
        let shift = if kind == What::Moved { (with.len() as u32).abs_diff(span.len() as u32) } else { 0 };
        out.push(Change { span, with, price, shift, kind });
    };
    let word = matches!(text[0], b'"' | b'\'')
        || text.iter().find(|b| !matches!(b, b'-' | b' ')).is_some_and(u8::is_ascii_alphanumeric);
    // A key that is being typed stays, but not as an item among keys.
    let among_keys = line.dash && below(bytes, span).is_some_and(|b| b.indent == line.indent && !b.dash);
    if among_keys || !is_half_key(text) {
        push(span, vec![b' '; span.len()], if word { LEFT_OUT } else { SIGNS_LEFT_OUT }, What::Left);
    }
    let columns = columns(bytes, line, step);
    for column in &columns {
        if *column != line.indent || content - span.start != line.indent as usize {
            push(Span::new(span.start, content), vec![b' '; *column as usize], MOVED, What::Moved);
        }
    }
    // A sign that took the place of indentation or of a dash.
    if text[0].is_ascii_punctuation() && !line.dash {
        let mut rest = content + 1;
        while rest < span.end && scan::is_space(bytes[rest]) {
            rest += 1;
        }
        if rest < span.end {
            for column in &columns {
                push(Span::new(span.start, rest), vec![b' '; *column as usize], SIGN_DROPPED, What::Sign);
            }
        }
    }
    let below_line = below(bytes, span);
    if let Some(at) = memchr::memmem::find(text, b":#").or_else(|| memchr::memmem::find(text, b"|#")) {
        push(Span::empty(content + at + 1), b" ".to_vec(), BLANK_ADDED, What::Sign);
    }
    // A dash that was lost.
    if !line.dash {
        for column in columns.iter().take(5) {
            let mut with = vec![b' '; *column as usize];
            with.extend_from_slice(b"- ");
            let signs = text.iter().take_while(|b| b.is_ascii_punctuation() && **b != b'"').count();
            push(Span::new(span.start, content + signs.min(text.len() - 1)), with, DASH_ADDED, What::Sign);
        }
    } else if text.len() > 2 {
        // A dash too many.
        for column in columns.iter().take(5) {
            push(Span::new(span.start, content + 2), vec![b' '; *column as usize], DASH_DROPPED, What::Sign);
        }
    }
    // Two lines in one.
    let mut starts: Vec<usize> = Vec::new();
    let mut i = content + 1;
    while i < span.end && starts.len() < 5 {
        let before = bytes[i - 1];
        let boundary = !before.is_ascii_alphanumeric() && !matches!(before, b'_' | b'-' | b'/' | b'.');
        if (boundary && entry_at(bytes, i, span.end) && !bytes[i..].starts_with(b"//"))
            || (scan::is_space(before) && bytes[i] == b'-' && bytes.get(i + 1) == Some(&b' '))
        {
            starts.push(i);
        }
        i += 1;
    }
    for start in starts {
        let mut from = start;
        while from > content && scan::is_space(bytes[from - 1]) {
            from -= 1;
        }
        for column in columns.iter().take(8) {
            let mut with = vec![b'\n'];
            with.resize(1 + *column as usize, b' ');
            push(Span::new(from, start), with, SPLIT, What::Split);
        }
    }
    // A value that does not belong to its key, or what stands behind the sign of a text block.
    if let Stop::Colon(colon) = scan::plain_line(&bytes[..span.end], content, false).1 {
        let mut value = colon + 1;
        while value < span.end && scan::is_space(bytes[value]) {
            value += 1;
        }
        if value < span.end {
            if matches!(bytes[value], b'|' | b'>') {
                let mut end = value + 1;
                while matches!(bytes.get(end), Some(b'-' | b'+')) {
                    end += 1;
                }
                if end < span.end {
                    push(Span::new(end, span.end), vec![b' '; span.end - end], HEADER_CUT, What::Left);
                }
            }
            if below_line.is_some_and(|b| b.indent > line.indent || b.dash) {
                push(Span::new(value, span.end), vec![b' '; span.end - value], VALUE_LEFT_OUT, What::Left);
            }
        }
    } else if let Some(colon) = memchr::memchr(b':', text)
        && colon > 0
    {
        let at = content + colon + 1;
        push(Span::new(at, span.end), vec![b' '; span.end - at], VALUE_LEFT_OUT + 2, What::Left);
    } else if below_line.is_some_and(|b| b.indent > line.indent || b.dash) {
        // A key without its colon.
        let mut end = span.end;
        while end > content + 1 && !bytes[end - 1].is_ascii_alphanumeric() {
            end -= 1;
        }
        push(Span::new(end, span.end), b":".to_vec(), COLON_ADDED, What::Sign);
    }
}
