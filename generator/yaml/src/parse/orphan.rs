//! Lines whose parent is commented out, or emptied to be written anew.
//!
//! Such a line stands deeper than anything above it expects. What follows at the levels around belongs where it always
//! did; the lines themselves belong to what is not there, and are in no tree.

use super::ahead::{Ahead, BlockEnd};
use super::block::Token;
use super::scan::{self, Stop};
use super::{Container, Parser, Slot};
use crate::split::next_line;
use crate::tree::Style;
use crate::work;

impl Parser<'_> {
    /// In a text known to be broken: steps over the lines from the position on that lack their parent.
    ///
    /// ```text
    /// a:          → a:
    ///   b: 1          b: 1
    ///   # c:          # c:
    ///     d: 2
    ///   e: 3          e: 3
    /// ```
    pub(super) fn orphans(&mut self, column: i32, token: Token) -> bool {
        if self.is_stray_list(column, token) {
            self.step_over(column, false);
            return true;
        }
        if !self.is_below_gap() {
            return false;
        }
        work::count(self.stack.len());
        let Some(at) = self.stack.iter().rposition(|frame| frame.indent <= column) else { return false };
        let frame = self.stack[at];
        let waits = at + 1 == self.stack.len() && matches!(frame.slot, Slot::Value | Slot::Key);
        let lost = if waits {
            // The lines could be what is waited for, if those behind them did not stand between the two.
            let between = |end: &BlockEnd| {
                let compact =
                    frame.container == Container::Map && end.indent == frame.indent && end.token == Token::Dash;
                end.indent > frame.indent || (compact && token != Token::Dash)
            };
            frame.container != Container::Seq
                && frame.indent < column
                && self.block_end(self.pos, column).is_some_and(|e| between(&e))
        } else if frame.indent == column {
            frame.container == Container::Map && token == Token::Dash
        } else {
            frame.container != Container::Root
        };
        if !lost
            || !self.gap_holds_parent(self.line_start, frame.indent + i32::from(waits && token != Token::Other), column)
        {
            return false;
        }
        self.step_over(column, frame.indent == column);
        true
    }

    /// Whether a list of mappings starts at the position, below an entry whose value is whole, and deeper.
    ///
    /// ```text
    /// a:            → a:
    ///   b: 1            b: 1
    ///     - c: 2
    ///       d: 3
    ///   e: 4            e: 4
    /// ```
    fn is_stray_list(&mut self, column: i32, token: Token) -> bool {
        let top = *self.top();
        let item = self.behind_blanks(self.pos + 1);
        token == Token::Dash
            && top.indent < column
            && matches!(scan::plain_line(self.bytes, item, false).1, Stop::Colon(_))
            && self.last_entry().is_some_and(|entry| entry.scalar && entry.one_line && !entry.below_key)
            && self.last_value().is_some_and(|value| value.style != Style::Absent)
    }

    /// Whether the line above is empty or a comment.
    fn is_below_gap(&self) -> bool {
        self.line_above(self.line_start).is_some_and(|above| {
            let (_, content) = scan::indentation(self.bytes, above);
            matches!(self.byte(content), b'\n' | b'\r' | b'#')
        })
    }

    fn line_above(&self, start: usize) -> Option<usize> {
        let end = start.checked_sub(1)?;
        let end = if end > 0 && self.bytes[end] == b'\n' && self.bytes[end - 1] == b'\r' { end - 1 } else { end };
        Some(memchr::memrchr2(b'\n', b'\r', &self.bytes[..end]).map_or(0, |i| i + 1))
    }

    /// Whether the line ahead lacks a parent between it and the line at `column`.
    ///
    /// Without it, 18 more of 5,706 replayed edits that comment a line or block out would disturb other lines.
    pub(super) fn parent_is_gone(&self, column: i32, ahead: Ahead) -> bool {
        let line = self.line_start_of(ahead.at);
        line > next_line(self.bytes, self.pos) && self.gap_holds_parent(line, column + 1, ahead.indent)
    }

    /// Whether one of the empty lines and comments above `line` could have been a parent of a line at `column`: a
    /// line of blanks that ends between the levels, or a comment that opens a level.
    fn gap_holds_parent(&self, line: usize, level: i32, column: i32) -> bool {
        let mut start = line;
        while let Some(above) = self.line_above(start) {
            let (spaces, content) = scan::indentation(self.bytes, above);
            match self.byte(content) {
                b'#' if self.opens_commented(content) => return true,
                b'#' => {}
                b'\n' | b'\r' if (level.max(0)..column.max(level + 1)).contains(&(spaces as i32)) => return true,
                b'\n' | b'\r' => {}
                _ => return false,
            }
            start = above;
        }
        false
    }

    /// Whether the text of the comment at `at` is a list item, or a key whose value is on the lines below.
    fn opens_commented(&self, at: usize) -> bool {
        let mut at = at;
        while self.byte(at) == b'#' {
            at += 1;
        }
        let at = self.behind_blanks(at);
        if self.token(at) == Token::Dash {
            return true;
        }
        let Stop::Colon(colon) = scan::plain_line(self.bytes, at, false).1 else { return false };
        let value = self.behind_blanks(colon + 1);
        let name = self.bytes[at..colon].iter().all(|b| !scan::is_space(*b));
        name && (self.opens_at(at) || self.continues(value))
    }
}
