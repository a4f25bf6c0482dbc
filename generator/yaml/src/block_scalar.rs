//! Literal and folded scalars: their parts, and where their text stands in the file.

use crate::split::next_line;
use crate::tree::NodeData;
use crate::{Span, Style, decode};

/// The parts of a literal (`|`) or folded (`>`) scalar. Offsets are bytes of the document's text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BlockScalar {
    /// The sign with its indicators, e.g. `|2-`.
    pub header: Span,
    /// From the start of the first content line to the end of the last that is not empty, indentation included.
    pub content: Span,
    /// Columns that are stripped from each line.
    pub indent: usize,
    /// Map from the decoded text to the file: each pair `(inner, outer)` starts a run of bytes that are the same in
    /// both, up to the next pair. Ascending in both numbers. Exact for literal scalars; in a folded one, runs start
    /// at each line too, and the folded break before a run belongs to no byte of the file.
    pub pieces: Vec<(usize, usize)>,
}

impl BlockScalar {
    pub(crate) fn of(text: &str, node: &NodeData) -> BlockScalar {
        let mut pieces = Vec::new();
        let decoded = decode::scalar(text, node);
        let mut inner = 0;
        for line in lines(text, node) {
            let content = line.slice(text);
            if node.style == Style::Literal {
                pieces.push((inner, line.start));
                inner += content.len() + 1;
            } else if !content.is_empty() {
                // Between two lines of a folded scalar stand only a space or breaks.
                let from = decoded.get(inner..).and_then(|rest| rest.find(content)).map_or(inner, |i| inner + i);
                pieces.push((from, line.start));
                inner = from + content.len();
            }
        }
        BlockScalar {
            header: Span::new(node.start as usize, node.last as usize),
            content: Span::new((node.first as usize).min(node.end as usize), node.end as usize),
            indent: node.indent as usize,
            pieces,
        }
    }

    /// The offset in the document of an offset in the decoded text.
    pub fn outer(&self, inner: usize) -> Option<usize> {
        let after = self.pieces.partition_point(|p| p.0 <= inner);
        let (from, to) = *self.pieces.get(after.checked_sub(1)?)?;
        Some((to + (inner - from)).min(self.content.end))
    }

    /// The offset in the decoded text of an offset in the document; `None` in front of the content or behind it. An
    /// offset in the stripped indentation counts as the start of its line.
    pub fn inner(&self, outer: usize) -> Option<usize> {
        if outer < self.content.start || outer > self.content.end {
            return None;
        }
        let after = self.pieces.partition_point(|p| p.1 <= outer);
        let Some((from, to)) = after.checked_sub(1).and_then(|i| self.pieces.get(i)).copied() else {
            return self.pieces.first().map(|p| p.0);
        };
        match self.pieces.get(after) {
            // Behind the end of this line, in the indentation of the next.
            Some(next) if from + (outer - to) >= next.0 => Some(next.0),
            _ => Some(from + (outer - to)),
        }
    }
}

/// The content lines, each without indentation and break; lines of version control left out.
pub(crate) fn lines<'t>(text: &'t str, node: &NodeData) -> impl Iterator<Item = Span> + 't {
    let bytes = text.as_bytes();
    let (mut at, end, indent) = (node.first as usize, node.end as usize, node.indent as usize);
    std::iter::from_fn(move || {
        while at < end {
            let line = at;
            at = next_line(bytes, line);
            let mut stop = at.min(end);
            while stop > line && matches!(bytes[stop - 1], b'\n' | b'\r') {
                stop -= 1;
            }
            let spaces = bytes[line..stop].iter().take_while(|b| **b == b' ').count();
            if spaces == 0 && indent > 0 && crate::parse::is_conflict(bytes, line) {
                continue;
            }
            return Some(Span::new(line + spaces.min(indent), stop));
        }
        None
    })
}

/// Whether the last content line has a break, and how many empty lines follow it.
pub(crate) fn tail(text: &str, node: &NodeData) -> (bool, usize) {
    let bytes = text.as_bytes();
    let mut at = node.end as usize;
    let has_content = node.end > node.first;
    let mut closing = !has_content;
    if has_content {
        // The end of the text counts as a break, as in yaml-rust2.
        at = next_line(bytes, at);
        closing = true;
    } else {
        at = node.first as usize;
    }
    let mut count = 0;
    while at < bytes.len() {
        let spaces = bytes[at..].iter().take_while(|b| **b == b' ').count();
        match bytes.get(at + spaces) {
            Some(b'\n' | b'\r') => {
                count += 1;
                at = next_line(bytes, at + spaces);
            }
            // Blanks without a break are a line if there is no other.
            None if spaces > 0 => {
                count += usize::from(!has_content && count == 0);
                break;
            }
            _ => break,
        }
    }
    (closing, count)
}
