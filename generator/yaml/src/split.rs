//! Where one document of a file ends and the next begins.

use memchr::{memchr2, memmem};

use crate::{Span, work};

/// Whether the line starting at `at` is the marker `mark` (`---` or `...`).
pub(crate) fn is_marker(bytes: &[u8], at: usize, mark: &[u8; 3]) -> bool {
    bytes.get(at..at + 3) == Some(mark) && bytes.get(at + 3).is_none_or(|b| matches!(b, b' ' | b'\t' | b'\n' | b'\r'))
}

/// Lines that are or start with `---` or `...`, found without a look at the lines between them. A byte order mark in
/// front of a marker hides it.
pub(crate) struct Markers<'t> {
    bytes: &'t [u8],
    /// What is looked for, and the line start where it was last found; the length of the text if there is no more.
    patterns: [(memmem::Finder<'static>, usize); 4],
}

impl<'t> Markers<'t> {
    pub(crate) fn new(bytes: &'t [u8]) -> Markers<'t> {
        let pattern = |text: &'static [u8; 4]| (memmem::Finder::new(text), 0);
        Markers { bytes, patterns: [b"\n---", b"\n...", b"\r---", b"\r..."].map(pattern) }
    }

    /// The first such line that starts behind the byte at `from`; the length of the text if there is none. Calls must
    /// ask in ascending order, so that all of them together read the text four times at most.
    pub(crate) fn behind(&mut self, from: usize) -> usize {
        let bytes = self.bytes;
        let mut first = bytes.len();
        for (finder, found) in &mut self.patterns {
            let mut at = from;
            while *found <= from {
                let next = bytes.get(at..).and_then(|rest| finder.find(rest)).map(|i| at + i + 1);
                *found = next.unwrap_or(bytes.len().max(from + 1));
                work::count(*found - at.min(*found));
                if *found < bytes.len() && !is_marker(bytes, *found, b"---") && !is_marker(bytes, *found, b"...") {
                    at = *found;
                    *found = 0;
                }
            }
            first = first.min(*found);
        }
        first
    }
}

/// The offset where the line behind `at` starts: behind its `\n`, `\r\n` or `\r`.
pub(crate) fn next_line(bytes: &[u8], at: usize) -> usize {
    let next = match memchr2(b'\n', b'\r', &bytes[at..]) {
        Some(i) if bytes[at + i] == b'\r' && bytes.get(at + i + 1) == Some(&b'\n') => at + i + 2,
        Some(i) => at + i + 1,
        None => bytes.len(),
    };
    work::count(next - at);
    next
}

/// The length of a byte order mark at `at`.
pub(crate) fn bom(bytes: &[u8], at: usize) -> usize {
    if bytes[at..].starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 }
}

/// Splits a file into its documents, at lines that are or start with `---` and at lines `...`, both in column 0.
///
/// The spans are in order, touch each other, and cover the text; there is always at least one. A `---` belongs to the
/// document it opens, together with the comments and directives above it; a `...` belongs to the document it ends.
/// Such a line cannot be part of a scalar, so nothing else has to be looked at.
///
/// JSON objects may also follow each other without a marker, as in a JSON stream: where one has ended and another
/// begins, a document ends, be it in the middle of a line.
pub fn split_documents(text: &str) -> Vec<Span> {
    let bytes = text.as_bytes();
    let mut spans = Vec::new();
    let mut start = 0;
    // Whether the current document has more than comments and directives, i.e. a `---` must open another one.
    let mut begun = false;
    let mut ended = false;
    let mut at = 0;
    // Inside a document only markers matter.
    let mut markers =
        bytes.get(1..).is_none_or(|rest| memmem::find(rest, b"\xEF\xBB\xBF").is_none()).then(|| Markers::new(bytes));
    while at < bytes.len() {
        if begun
            && !ended
            && at > 0
            && let Some(markers) = &mut markers
        {
            at = markers.behind(at - 1);
            if at >= bytes.len() {
                break;
            }
        }
        let line = at;
        let content = line + bom(bytes, line);
        at = next_line(bytes, line);
        match bytes.get(content) {
            Some(b'-') if is_marker(bytes, content, b"---") => {
                if begun || ended {
                    spans.push(Span::new(start, line));
                    start = line;
                }
                begun = true;
                ended = false;
            }
            Some(b'{') if !begun || ended => {
                if ended {
                    spans.push(Span::new(start, line));
                    start = line;
                    ended = false;
                }
                let next = json_follows(bytes, content);
                if let Some(next) = next {
                    spans.push(Span::new(start, next));
                    start = next;
                    at = next;
                }
                begun = next.is_none();
            }
            Some(b'.') if is_marker(bytes, content, b"...") => {
                ended = true;
            }
            Some(b'\n' | b'\r' | b'#') | None => {}
            Some(b'%') if !begun || ended => {
                if ended {
                    spans.push(Span::new(start, line));
                    start = line;
                    begun = false;
                    ended = false;
                }
            }
            Some(b' ' | b'\t') if (!begun || ended) && is_void(&bytes[content..at]) => {}
            Some(_) => {
                if ended {
                    spans.push(Span::new(start, line));
                    start = line;
                    ended = false;
                }
                begun = true;
            }
        }
    }
    spans.push(Span::new(start, bytes.len()));
    spans
}

/// Where the document behind the JSON object at `at` begins, if another JSON object follows it: at the start of its line
/// where nothing else stands in front of it there.
fn json_follows(bytes: &[u8], at: usize) -> Option<usize> {
    if !is_json(bytes, at) {
        return None;
    }
    let end = json_end(bytes, at)?;
    let next = end + bytes[end..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    work::count(next - at);
    if !is_json(bytes, next) {
        return None;
    }
    let line = bytes[end..next].iter().rposition(|byte| matches!(byte, b'\n' | b'\r'));
    Some(line.map_or(next, |last| end + last + 1))
}

/// Whether a JSON object begins there, which no template action and hardly a mapping of YAML looks like.
fn is_json(bytes: &[u8], at: usize) -> bool {
    let inside = bytes.get(at + 1..).unwrap_or_default().iter().find(|byte| !byte.is_ascii_whitespace());
    bytes.get(at) == Some(&b'{') && matches!(inside, Some(b'"' | b'}'))
}

/// Where the JSON object at `at` ends; `None` if it has no end, or is none of JSON.
fn json_end(bytes: &[u8], at: usize) -> Option<usize> {
    let (mut depth, mut i) = (0_usize, at);
    loop {
        match bytes.get(i)? {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return Some(i + 1);
                }
            }
            b'"' => {
                i += 1;
                while *bytes.get(i)? != b'"' {
                    i += if bytes[i] == b'\\' { 2 } else { 1 };
                }
            }
            // Quotes and comments that JSON does not have hide brackets; a marker ends every document.
            b'\'' | b'#' => return None,
            b'\n' | b'\r' if is_marker(bytes, i + 1, b"---") || is_marker(bytes, i + 1, b"...") => return None,
            _ => {}
        }
        i += 1;
    }
}

/// Whether a line holds only blanks or a comment.
fn is_void(line: &[u8]) -> bool {
    line.iter().find(|b| !matches!(b, b' ' | b'\t')).is_none_or(|b| matches!(b, b'\n' | b'\r' | b'#'))
}
