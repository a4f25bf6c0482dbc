//! A second reading of a broken text, with the line that seems to be the damage left out.

use super::{Parser, Reading, line, scan};
use crate::{Span, SyntaxError};

/// Texts longer than this are not read again: each further reading costs as much as the first.
const LONGEST: usize = 1 << 20;

/// Reads the text once more without the line of the first error, and without the line above it. Returns the reading
/// that leaves fewer errors elsewhere than `errors` has; positions are those of the whole text, and the line that was
/// left out keeps its errors.
pub(super) fn without_a_line(text: &str, errors: &[SyntaxError]) -> Option<Reading> {
    let bytes = text.as_bytes();
    let first = errors.iter().min_by_key(|e| e.span.start)?;
    if bytes.len() > LONGEST {
        return None;
    }
    let line = line_at(bytes, first.span.start);
    let elsewhere = |line: Span| errors.iter().filter(|e| !touches(line, e)).count();
    let mut best: Option<(usize, Reading)> = None;
    let above = content_above(bytes, line);
    // A single fault may be that of a fragment above it, but not at the price of a whole entry.
    let candidates =
        if errors.len() > 1 { [Some(line), above] } else { [None, above.filter(|above| is_fragment(bytes, *above))] };
    for damaged in candidates.into_iter().flatten() {
        let mut copy = bytes.to_vec();
        copy[damaged.start..damaged.end].fill(b' ');
        let mut parser = Parser::new(&copy);
        parser.distrust = true;
        parser.step = line::usual_step(&copy);
        parser.run();
        let left = parser.errors.len();
        let limit = best.as_ref().map_or(elsewhere(if errors.len() > 1 { line } else { damaged }), |(count, _)| *count);
        if left < limit {
            let mut reading = parser.done();
            let own = errors.iter().filter(|e| touches(damaged, e));
            reading.errors.extend(own.cloned());
            if !reading.errors.iter().any(|e| e.span.start <= first.span.start) {
                reading.errors.push(first.clone());
            }
            best = Some((left, reading));
        }
    }
    best.map(|(_, reading)| reading)
}

/// Whether a line is no entry and no item, e.g. `: x` or a lone bracket.
fn is_fragment(bytes: &[u8], line: Span) -> bool {
    let (_, content) = scan::indentation(bytes, line.start);
    let first = bytes.get(content).copied().unwrap_or(b' ');
    !first.is_ascii_alphanumeric() && !matches!(first, b'-' | b'"' | b'\'')
}

fn touches(line: Span, error: &SyntaxError) -> bool {
    (line.start..=line.end).contains(&error.span.start)
}

/// The line that a position is in, without its line break.
fn line_at(bytes: &[u8], at: usize) -> Span {
    let at = at.min(bytes.len());
    let start = memchr::memrchr2(b'\n', b'\r', &bytes[..at]).map_or(0, |i| i + 1);
    Span::new(start, scan::line_end(bytes, start))
}

/// The next line above that has content.
fn content_above(bytes: &[u8], line: Span) -> Option<Span> {
    let mut start = line.start;
    while start > 0 {
        let above = line_at(bytes, start - 1);
        let (_, content) = scan::indentation(bytes, above.start);
        if content < above.end && bytes[content] != b'#' {
            return Some(above);
        }
        start = above.start;
    }
    None
}
