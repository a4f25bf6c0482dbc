//! The ways in which a broken line may be mended, and their prices.

use super::line;
use super::scan::{self, Stop};
use crate::Span;
use crate::split::next_line;

/// Longer lines are not mended: what to split is looked for from each of their bytes.
const LONGEST_LINE: usize = 1 << 11;
/// How many lines are looked at to find the levels above a line.
const LINES_ABOVE: usize = 200;

// Prices of changes, in the unit of `plausible`: what a writer does easily costs less than the error that it mends, and
// what loses or makes up text costs more.

/// A line with a word is left out: more than an error, so that no line goes because of one error of its own.
const LEFT_OUT: i32 = 8;
/// A line that starts with a sign is left out: less than an error, nothing that can be read is lost.
const SIGNS_LEFT_OUT: i32 = 5;
/// A line is moved to another column: the easiest damage.
const MOVED: i32 = 5;
/// The sign at the start of a line is dropped, like a line that moves.
const SIGN_DROPPED: i32 = 5;
/// A dash is put in: it makes an item, so as much as to lose a line.
const DASH_ADDED: i32 = 8;
/// A dash is dropped: two lines become one item, worse than to lose one of them.
const DASH_DROPPED: i32 = 12;
/// A line is split in two: as much as the error it mends, so that it must mend something more.
const SPLIT: i32 = 6;
/// The value of a key is left out, like a line.
const VALUE_LEFT_OUT: i32 = 8;
/// What stands behind a text block's header is left out, as if it were split off.
const HEADER_CUT: i32 = 6;
/// A colon is put in: it makes a key of a text, worse than to lose the line.
const COLON_ADDED: i32 = 12;
/// A colon is put in behind a lone word that has lines below it: a key that is being typed, so less than an error.
const COLON_TYPED: i32 = 5;
/// A blank is put in, less than an error.
const BLANK_ADDED: i32 = 5;
/// Lines that do not belong here are left out, for each of them: so little that the number decides only between
/// changes that are alike.
const FOREIGN: i32 = 1;
/// How many such lines may follow each other.
const MOST_FOREIGN: usize = 12;
/// Each line between the error and the change: half an error, the cause mostly stands where the error is.
const FARTHER: i32 = 3;

/// Replaces bytes of the text.
#[derive(Clone, Debug)]
pub(super) struct Change {
    pub(super) span: Span,
    pub(super) with: Vec<u8>,
    /// What speaks against this change, in the unit of `plausible`.
    pub(super) price: i32,
    /// By how many columns a line is moved.
    pub(super) shift: u32,
    pub(super) kind: What,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum What {
    Left,
    Moved,
    Split,
    Sign,
}

/// A line with content, as far as its place matters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    pub(super) span: Span,
    pub(super) indent: i32,
    pub(super) content: usize,
    pub(super) dash: bool,
}

pub(super) fn line_at(bytes: &[u8], at: usize) -> Span {
    let at = at.min(bytes.len());
    let start = memchr::memrchr2(b'\n', b'\r', &bytes[..at]).map_or(0, |i| i + 1);
    Span::new(start, scan::line_end(bytes, start))
}

pub(super) fn looked_at(bytes: &[u8], span: Span) -> Option<Line> {
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

pub(super) fn below(bytes: &[u8], line: Span) -> Option<Line> {
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

pub(super) fn changes(bytes: &[u8], place: usize, step: i32) -> Vec<Change> {
    let mut out = Vec::new();
    let first = line_at(bytes, place);
    let mut next = looked_at(bytes, first).or_else(|| above(bytes, first));
    for distance in 0..3 {
        let Some(line) = next else { break };
        let from = out.len();
        of_line(bytes, &line, step, &mut out);
        for change in &mut out[from..] {
            change.price += FARTHER * distance;
        }
        next = above(bytes, line.span);
    }
    if let Some(line) = looked_at(bytes, first) {
        foreign(bytes, &line, step, &mut out);
    }
    out
}

/// Lines from elsewhere, further left than those above, which they end. The first of them is `line`. One change leaves out
/// `pasted: x` and `more: y` at column 0 between `    c: 1` and `    d: 2`.
fn foreign(bytes: &[u8], line: &Line, step: i32, out: &mut Vec<Change>) {
    let Some(over) = above(bytes, line.span).filter(|over| over.indent > line.indent) else { return };
    // An item, or a key that is being typed, has the lines below it for itself.
    if line.dash || is_half_key(&bytes[line.content..line.span.end]) {
        return;
    }
    let mut last = *line;
    for count in 1..MOST_FOREIGN {
        let Some(next) = below(bytes, last.span) else { break };
        if count > 1 && next.indent > line.indent && next.indent <= over.indent + step {
            let span = Span::new(line.span.start, last.span.end);
            let with = bytes[span.start..span.end].iter().map(|b| if matches!(b, b'\n' | b'\r') { *b } else { b' ' });
            let price = LEFT_OUT + FOREIGN * count as i32;
            out.push(Change { span, with: with.collect(), price, shift: 0, kind: What::Left });
        }
        last = next;
    }
}

/// Whether an entry starts at `at`: a word and a colon behind it.
fn entry_at(bytes: &[u8], at: usize, end: usize) -> bool {
    bytes.get(at).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_')
        && matches!(scan::plain_line(&bytes[..end], at, false).1, Stop::Colon(_))
}

/// Whether a line holds one word, perhaps behind a dash and in front of a comment.
pub(super) fn is_half_key(text: &[u8]) -> bool {
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
    // A line that cannot be read: `}}` between two entries is left out.
    let among_keys = line.dash && below(bytes, span).is_some_and(|b| b.indent == line.indent && !b.dash);
    if among_keys || !is_half_key(text) {
        push(span, vec![b' '; span.len()], if word { LEFT_OUT } else { SIGNS_LEFT_OUT }, What::Left);
    }
    let columns = columns(bytes, line, step);
    // A lone word above deeper lines is a key that is being typed. Farther in, it would go on with the value above it,
    // which is whole without it.
    let below_line = below(bytes, span);
    let half_key = !line.dash && is_half_key(text) && below_line.is_some_and(|b| b.indent > line.indent);
    // A line that was moved: `   b: 1` among entries of column 2 becomes `  b: 1`.
    for column in columns.iter().filter(|column| !half_key || **column <= line.indent) {
        if *column != line.indent || content - span.start != line.indent as usize {
            push(Span::new(span.start, content), vec![b' '; *column as usize], MOVED, What::Moved);
        }
    }
    // A sign that took the place of indentation or of a dash: `= b: 1` becomes `  b: 1`.
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
    // A blank that was lost: `a:# note` becomes `a: # note`.
    if let Some(at) = memchr::memmem::find(text, b":#").or_else(|| memchr::memmem::find(text, b"|#")) {
        push(Span::empty(content + at + 1), b" ".to_vec(), BLANK_ADDED, What::Sign);
    }
    // A dash that was lost: `  b: 1` above `  c: 2` in a list becomes `- b: 1`.
    if !line.dash {
        for column in columns.iter().take(5) {
            let mut with = vec![b' '; *column as usize];
            with.extend_from_slice(b"- ");
            let signs = text.iter().take_while(|b| b.is_ascii_punctuation() && **b != b'"').count();
            push(Span::new(span.start, content + signs.min(text.len() - 1)), with, DASH_ADDED, What::Sign);
        }
    } else if text.len() > 2 {
        // A dash too many: `- b: 1` among entries becomes `b: 1`.
        for column in columns.iter().take(5) {
            push(Span::new(span.start, content + 2), vec![b' '; *column as usize], DASH_DROPPED, What::Sign);
        }
    }
    // Two lines in one: `a: "x" b: 1` becomes `a: "x"` and `b: 1`.
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
    // A value that does not belong to its key, or what stands behind the sign of a text block: `a: |x` becomes `a: |`,
    // and `a: x` above lines that stand deeper `a:`.
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
        push(Span::new(at, span.end), vec![b' '; span.end - at], VALUE_LEFT_OUT, What::Left);
    } else if below_line.is_some_and(|b| b.indent > line.indent || b.dash) {
        // A key without its colon: `a` above lines that stand deeper becomes `a:`.
        let mut end = span.end;
        while end > content + 1 && !bytes[end - 1].is_ascii_alphanumeric() {
            end -= 1;
        }
        let price = if half_key { COLON_TYPED } else { COLON_ADDED };
        push(Span::new(end, span.end), b":".to_vec(), price, What::Sign);
    }
}
