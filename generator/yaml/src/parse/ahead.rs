//! What the lines below say about the line that is read.

use super::block::Token;
use super::scan::{self, Stop};
use super::{Container, Frame, Parser, line};
use crate::split::next_line;

/// The next line that has content.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ahead {
    pub(super) indent: i32,
    /// Offset of its first character that is no blank.
    pub(super) at: usize,
    pub(super) token: Token,
    /// The line is an entry `key:`, with or without value.
    pub(super) key: bool,
}

/// How many lines are looked at to find the end of a block.
const LINES_AHEAD: usize = 200;

/// The line with content that ends a block, and what the block is like.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockEnd {
    /// Column of the line behind the block; -1 at the end of the text.
    pub(super) indent: i32,
    pub(super) token: Token,
    /// How many lines stand at the block's own column, its first one included.
    pub(super) heads: usize,
}

impl Parser<'_> {
    /// The end of the block that starts with the line of `at`, in column `column`: the first line that stands further
    /// left. `None` if that is too far away.
    pub(super) fn block_end(&self, at: usize, column: i32) -> Option<BlockEnd> {
        let mut heads = 1;
        let mut at = next_line(self.bytes, at);
        for _ in 0..LINES_AHEAD {
            let (spaces, content) = scan::indentation(self.bytes, at);
            let indent = spaces as i32;
            match self.bytes.get(content) {
                None => return Some(BlockEnd { indent: -1, token: Token::Other, heads }),
                Some(b'\n' | b'\r' | b'#') => {}
                Some(_) if indent < column => return Some(BlockEnd { indent, token: self.token(content), heads }),
                Some(_) => heads += usize::from(indent == column),
            }
            at = next_line(self.bytes, content);
        }
        None
    }

    /// The first line behind the one `at` is in that is neither empty nor a comment.
    pub(super) fn ahead(&self, at: usize) -> Option<Ahead> {
        let mut at = next_line(self.bytes, at);
        loop {
            let (spaces, content) = scan::indentation(self.bytes, at);
            match self.bytes.get(content)? {
                b'\n' | b'\r' => at = next_line(self.bytes, content),
                b'#' => at = next_line(self.bytes, content),
                _ => {
                    let key = matches!(scan::plain_line(self.bytes, content, false).1, Stop::Colon(_));
                    return Some(Ahead { indent: spaces as i32, at: content, token: self.token(content), key });
                }
            }
        }
    }

    /// Whether the line at the position ends with the colon of a key, so that its value is to follow.
    pub(super) fn opens(&self) -> bool {
        self.opens_at(self.pos)
    }

    pub(super) fn opens_at(&self, at: usize) -> bool {
        match scan::plain_line(self.bytes, at, false).1 {
            Stop::Colon(colon) => {
                let mut i = colon + 1;
                while scan::is_space(self.byte(i)) {
                    i += 1;
                }
                matches!(self.byte(i), b'\n' | b'\r' | b'#')
            }
            _ => false,
        }
    }

    pub(super) fn behind_blanks(&self, mut at: usize) -> usize {
        while scan::is_space(self.byte(at)) {
            at += 1;
        }
        at
    }

    /// Whether the line at the position holds two entries, `outer: inner: …` or `outer:inner: …`, so that the lines
    /// below can belong to it.
    pub(super) fn two_on_a_line(&self) -> bool {
        let Stop::Colon(colon) = scan::plain_line(self.bytes, self.pos, false).1 else { return false };
        let value = self.behind_blanks(colon + 1);
        let glued = memchr::memchr(b':', &self.bytes[self.pos..colon]).is_some();
        glued || matches!(scan::plain_line(self.bytes, value, false).1, Stop::Colon(_))
    }

    /// Whether a value that starts at `at` may go on behind its line.
    pub(super) fn continues(&self, at: usize) -> bool {
        let last = {
            let mut end = scan::line_end(self.bytes, at);
            while end > at && scan::is_space(self.bytes[end - 1]) {
                end -= 1;
            }
            self.bytes[at..end].last().copied().unwrap_or(b' ')
        };
        match self.byte(at) {
            b'|' | b'>' | b'&' | b'!' => true,
            b @ (b'"' | b'\'') => last != b || at + 1 >= self.bytes.len(),
            b'[' | b'{' => !matches!(last, b']' | b'}'),
            _ => false,
        }
    }

    /// The column of the key that follows a text ending at `end`, behind comments and template lines, although it stands
    /// deeper than `indent`, so that no text may stand in front of it.
    pub(super) fn key_below(&self, end: usize, indent: i32) -> Option<i32> {
        let mut at = end;
        loop {
            let ahead = self.ahead(at).filter(|a| a.indent > indent)?;
            match line::template_line(self.bytes, ahead.at) {
                Some(end) => at = end,
                None => return (ahead.key && ahead.token == Token::Other).then_some(ahead.indent),
            }
        }
    }

    /// Whether the text at this column, which the key at the other column ended, is a key that lacks its colon.
    pub(super) fn is_half_key(&self, parent: i32, column: i32, key_column: i32) -> bool {
        key_column == column || (key_column > column && key_column - parent.max(0) != self.step.max(2))
    }

    /// The level of a key in the middle of a line: the one that the line below is indented from.
    pub(super) fn level_above(&self, at: usize) -> Option<i32> {
        let below = self.ahead(at)?;
        let fits = |f: &&Frame| {
            let deeper = below.indent - f.indent;
            f.container == Container::Map && (deeper == self.step.max(2) || (below.token == Token::Dash && deeper == 0))
        };
        self.stack.iter().rev().find(fits).map(|f| f.indent)
    }
}
