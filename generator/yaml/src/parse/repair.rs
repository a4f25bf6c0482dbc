//! Further readings of a broken text, each with one line mended, and the choice between them.
//!
//! The parser reads a broken text as well as one pass can. Where lines were joined, glued, moved or lost a sign, what
//! stands below tells more than what stands above; so the line of the first fault, and those above it, are mended in
//! every way that is likely, and the reading that leaves least in doubt is taken.

use std::borrow::Cow;

use super::changes::{Change, What, below, changes, is_half_key, line_at, looked_at};
use super::plausible::{self, Habits, doubt};
use super::{Parser, Reading, line, scan};
use crate::tree::{NONE, NodeData, Style, UNCLOSED};
use crate::{SkippedKind, Span, SyntaxError, work};

/// Longer texts are not mended: each reading costs as much as the first.
pub(super) const LONGEST: usize = 1 << 20;
/// Bytes that all readings of one text may cost together, but for a few that every text gets.
const BUDGET: usize = 1 << 20;
/// With more errors than this, one line more or less says nothing.
const MOST_ERRORS: usize = 100;
/// Faults that are mended one after the other. Each round reads the text again; while typing there are one or two.
const ROUNDS: usize = 4;

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

/// The best change so far.
struct Best {
    /// Doubt and price, by how much it moves a line, and its number.
    total: (i32, u32, usize),
    change: Change,
    reading: Reading,
    doubt: i32,
}

/// Mends what can be mended, and returns the reading that leaves least in doubt: the first one if no change is better.
pub(super) fn mend(text: &str, reading: Reading) -> Reading {
    let bytes = text.as_bytes();
    if bytes.len() > LONGEST || !(1..=MOST_ERRORS).contains(&reading.errors.len()) {
        return reading;
    }
    if first_fault(bytes, &reading).is_none() || is_being_typed(bytes, &reading) {
        return reading;
    }
    let habits = Habits::of(bytes);
    let step = habits.step;
    let first = doubt(bytes, &reading, habits);
    let mut draft =
        Draft { text, bytes: Cow::Borrowed(bytes), origin: Vec::new(), notes: Vec::new(), reading, doubt: first };
    let mut left = (BUDGET / bytes.len().max(1)).max(3);
    for _ in 0..ROUNDS {
        let Some(place) = first_fault(&draft.bytes, &draft.reading) else { break };
        let mut best: Option<Best> = None;
        let mut candidates: Vec<(usize, Change)> = changes(&draft.bytes, place, step).into_iter().enumerate().collect();
        // The cheapest first, so that what cannot win any more need not be read.
        candidates.sort_by_key(|(_, change)| change.price);
        for (number, change) in candidates {
            let limit = best.as_ref().map_or((draft.doubt, 0, 0), |best| best.total);
            if left == 0 || change.price > limit.0 {
                break;
            }
            if (change.price, change.shift, number) >= limit {
                continue;
            }
            left -= 1;
            let copy = apply(&draft.bytes, &change);
            let mut parser = Parser::new(&copy);
            parser.recovering = true;
            parser.step = line::usual_step(&copy);
            parser.most_errors = plausible::most_errors(limit.0 - change.price);
            parser.run();
            if parser.errors.len() > parser.most_errors {
                continue;
            }
            let reading = parser.done();
            let doubt = doubt(&copy, &reading, habits);
            let total = (doubt + change.price, change.shift, number);
            if total < limit {
                best = Some(Best { total, change, reading, doubt });
            }
        }
        let Some(best) = best else { break };
        draft.adopt(&best.change, best.reading, best.doubt);
    }
    draft.finish()
}

/// Where the first error is that a likelier text could mend. Lines that version control leaves are no such error: what
/// stands between them is as its author wrote it. Nor is an entry that is missing between brackets: nothing else is in
/// doubt. Nor are lines without their parent, which is gone.
fn first_fault(bytes: &[u8], reading: &Reading) -> Option<usize> {
    let orphan = |start: usize| {
        let mut orphans = reading.skipped.iter().filter(|skipped| skipped.kind == SkippedKind::Orphan);
        orphans.any(|skipped| skipped.span.start == start)
    };
    let starts = reading.errors.iter().map(|error| error.span.start);
    let between = |at: usize| {
        let before = bytes[..at].trim_ascii_end().last();
        bytes.get(at) == Some(&b',') && matches!(before, Some(b'{' | b'[' | b','))
    };
    let settled =
        |start: usize| line::is_conflict(bytes, line_at(bytes, start).start) || between(start) || orphan(start);
    starts.filter(|start| !settled(*start)).min()
}

/// Whether all that is wrong is the end of a line that is being typed: a key without its colon, or a value whose quote
/// or bracket is still open, with nothing below it. Below a key behind a dash may stand other keys of the item. The value may have been left open
/// above the key.
fn is_being_typed(bytes: &[u8], reading: &Reading) -> bool {
    let mut lines: Vec<Span> = reading.errors.iter().map(|error| line_at(bytes, error.span.start)).collect();
    lines.sort_unstable_by_key(|line| line.start);
    lines.dedup();
    if lines.len() > 2 {
        return false;
    }
    let mut open_ends = 0;
    for span in &lines {
        let Some(line) = looked_at(bytes, *span) else { return false };
        let here = line.content..line.span.end;
        let dashes = bytes[here.clone()].iter().take_while(|b| line.dash && matches!(b, b'-' | b' ')).count();
        if below(bytes, line.span).is_some_and(|below| below.indent > line.indent + dashes as i32) {
            return false;
        }
        let open = |node: &NodeData| node.flags & UNCLOSED != 0 && here.contains(&(node.start as usize));
        let text = &bytes[here.clone()];
        // Dashes become a list item or the marker of a document.
        let half = is_half_key(text) || text.trim_ascii_end().iter().all(|b| *b == b'-');
        let errors = reading.errors.iter().filter(|error| touches(line.span, error)).count();
        if reading.tree.nodes.iter().any(open) {
            open_ends += 1;
        } else if !half || errors > 1 {
            return false;
        }
    }
    open_ends + 1 >= lines.len() && !lines.is_empty()
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
    work::count(bytes.len());
    let mut out = Vec::with_capacity(bytes.len() + change.with.len());
    out.extend_from_slice(&bytes[..change.span.start]);
    out.extend_from_slice(&change.with);
    out.extend_from_slice(&bytes[change.span.end..]);
    out
}

fn touches(line: Span, error: &SyntaxError) -> bool {
    (line.start..=line.end).contains(&error.span.start)
}
