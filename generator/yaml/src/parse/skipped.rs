//! Lines that are stepped over: what version control and templates write between the lines, and what lacks its parent.

use super::block::Token;
use super::{Parser, Slot, line, scan};
use crate::split::next_line;
use crate::{Skipped, SkippedKind, Span};

impl Parser<'_> {
    pub(super) fn conflict_line(&mut self) -> bool {
        let start = self.line_start;
        let opens = self.bytes[start] == b'<';
        if !is_marker_here(self.bytes, start, opens || self.in_conflict) {
            return false;
        }
        let end = scan::line_end(self.bytes, start);
        let span = Span::new(start, end);
        if !self.in_conflict {
            self.error(span, "this is a conflict marker of version control; choose one of the two versions");
        }
        self.in_conflict = self.bytes[start] != b'>';
        self.skipped.push(Skipped { span, kind: SkippedKind::Conflict });
        self.pos = next_line(self.bytes, end);
        true
    }

    pub(super) fn template_line(&mut self) -> bool {
        let Some(end) = line::template_line(self.bytes, self.pos) else { return false };
        let top = *self.top();
        // As the value of a key or item it is that value.
        if top.slot == Slot::Value && top.indent < (self.pos - self.line_start) as i32 && !self.is_control(end) {
            return false;
        }
        self.skipped.push(Skipped { span: Span::new(self.pos, end), kind: SkippedKind::Template });
        self.pos = next_line(self.bytes, end);
        true
    }

    /// Whether the template line up to `end` steers the template (`if`, `range`, `end`, …) or prints whole entries
    /// (`toYaml`, `include`), i.e. is no value.
    fn is_control(&self, end: usize) -> bool {
        let inner = self.bytes[self.pos + 2..end].trim_ascii_start();
        let inner = inner.strip_prefix(b"-").unwrap_or(inner).trim_ascii_start();
        let words: [&[u8]; 12] = [
            b"if",
            b"else",
            b"end",
            b"range",
            b"with",
            b"define",
            b"template",
            b"block",
            b"include",
            b"toYaml",
            b"/*",
            b"$",
        ];
        words.iter().any(|w| inner.starts_with(w)) || inner.windows(6).any(|w| w == b"indent" || w == b"toYaml")
    }

    /// Steps over a block that starts at the position; a `list` stands at the column of its key.
    pub(super) fn step_over(&mut self, column: i32, list: bool) {
        let start = self.pos;
        let mut last = scan::line_end(self.bytes, start);
        self.error(Span::new(start, last), "the line that this one belongs to is missing above it");
        self.pos = next_line(self.bytes, last);
        while self.pos < self.bytes.len() {
            self.line_start = self.pos;
            let (spaces, content) = scan::indentation(self.bytes, self.pos);
            let indent = spaces as i32;
            match self.byte(content) {
                b'#' if content < self.bytes.len() => {
                    self.pos = content;
                    self.comment(true);
                }
                b'\n' | b'\r' => self.pos = content,
                _ if indent > column || (indent == column && (!list || self.token(content) == Token::Dash)) => {
                    last = scan::line_end(self.bytes, content);
                    self.pos = last;
                }
                _ => break,
            }
            self.pos = next_line(self.bytes, self.pos);
        }
        self.skipped.push(Skipped { span: Span::new(start, last), kind: SkippedKind::Orphan });
    }
}

/// Whether the line is a conflict marker; `=======` and the like count only inside a conflict.
pub(super) fn is_marker_here(bytes: &[u8], at: usize, possible: bool) -> bool {
    possible && line::is_conflict(bytes, at)
}
