//! Lines that fit nowhere: which level they belong to.

use super::ahead::Ahead;
use super::block::Token;
use super::scan::{self, Stop};
use super::{Container, Frame, Parser, Slot};
use crate::tree::Style;
use crate::{Span, work};

impl Parser<'_> {
    /// The column that a line indented with tabs stands for.
    pub(super) fn tab_column(&mut self, spaces: i32, token: Token) -> i32 {
        let top = *self.top();
        let tabs = (self.pos - self.line_start) as i32 - spaces;
        let scalar_root = top.container == Container::Root;
        let lone_value = token == Token::Other
            && matches!(top.slot, Slot::Value)
            && top.indent < spaces
            && !matches!(scan::plain_line(self.bytes, self.pos, false).1, Stop::Colon(_));
        if lone_value
            || (scalar_root && self.lenient)
            || (scalar_root && matches!(self.bytes[self.pos], b'[' | b'{' | b']' | b'}'))
        {
            // Tabs may stand in front of a value whose place the spaces already give.
            return spaces.max(0);
        }
        let at = self.line_start + spaces as usize;
        let end = self.pos;
        self.error(Span::new(at, end), "a tab cannot be used as indentation; use spaces");
        // The n-th tab stands for the n-th open level, or for the one to be opened.
        work::count(self.stack.len());
        let levels: Vec<i32> = self.stack[1..].iter().map(|f| f.indent).collect();
        let wide = spaces + 2 * tabs;
        if levels.contains(&wide) {
            return wide;
        }
        if let Some(ahead) = self.ahead(self.pos)
            && levels.contains(&ahead.indent)
            && !self.opens()
        {
            return ahead.indent;
        }
        if top.slot == Slot::Value && top.indent >= 0 {
            let shallow = spaces == 0 && (tabs as usize) < levels.len();
            if !shallow {
                let below = self.ahead(self.pos).filter(|a| a.indent > top.indent && a.indent <= wide.max(spaces));
                return below.map_or(top.indent + self.step, |a| a.indent);
            }
            return levels[tabs as usize];
        }
        let index = (tabs as usize).min(levels.len().saturating_sub(1));
        levels.get(index).copied().unwrap_or(0)
    }

    /// In a text known to be broken: the start of a key behind a lone sign that took the place of its indentation. Of
    /// `=   b: 1` the entry is read as of `    b: 1`.
    pub(super) fn behind_lone_sign(&self, at: usize) -> Option<usize> {
        let sign = self.byte(at);
        if matches!(sign, b'-' | b'?' | b':' | b'"' | b'\'') || !self.bytes[at + 1..].starts_with(b"  ") {
            return None;
        }
        let key = self.behind_blanks(at + 1);
        let entry = self.byte(key).is_ascii_alphanumeric()
            && matches!(scan::plain_line(self.bytes, key, false).1, Stop::Colon(_));
        (entry || self.token(key) == Token::Dash).then_some(key)
    }

    pub(super) fn misplaced(&mut self) {
        let span = Span::new(self.pos, scan::line_end(self.bytes, self.pos));
        self.error(span, "this line's indentation fits none of the levels around it");
    }

    /// Places a line that is indented deeper than the innermost open level although that level expects no value.
    pub(super) fn place_deeper(&mut self, column: i32, token: Token) -> i32 {
        self.misplaced();
        let low = self.top().indent;
        let ahead = self.ahead(self.pos);
        let opens = self.opens();
        // a:          → a:
        //   b: x          b:
        //     c: 1          c: 1
        //     d: 2          d: 2
        //   e: 3          e: 3
        // The value of the last entry may be what is wrong: a stray text, or a line that was meant to open a level.
        if low >= 0 && ahead.is_none_or(|a| a.indent >= column) {
            let entry = self.last_entry();
            let value_below = entry.is_some_and(|e| e.below_key && e.one_line && (!e.list || token == Token::Dash));
            let more = ahead.is_some_and(|a| a.indent >= column);
            let cheap = column - low >= 2 && entry.is_some_and(|e| e.scalar);
            work::count(self.recently_closed.len());
            let ghost = self.recently_closed.iter().any(|g| g.indent == column);
            let glued = self.glued_entry();
            let moved = glued.is_none() && self.was_moved_in(column, token);
            if moved {
                // Read as the neighbour of the entry above, which keeps its value.
            } else if (value_below || (cheap && more && (!ghost || glued.is_some()))) && self.reopen_value(column) {
                self.blame(glued);
                return self.settle(column, token);
            }
            let key = self.last_key();
            if !moved && more && self.split_last_key(column) {
                self.blame(key);
                return column;
            }
        }
        let Some(target) = self.best_level(column, token, ahead, opens) else {
            // Text behind the root's value: nothing can be its parent.
            return self.behind_root(column);
        };
        if target != low {
            self.reopen(target);
        }
        let top = *self.top();
        if top.container == Container::Map
            && top.indent > column
            && ahead.is_some_and(|a| a.indent == column || (opens && a.indent <= top.indent))
            && self.stack[self.stack.len() - 2].indent < column
        {
            // Without this, 3 more of 2,168 replayed moves of a block would disturb other lines.
            // The entries read so far stood too deep, not this one.
            self.set_indent(column);
        }
        let column = self.top().indent;
        self.settle(column, token)
    }

    /// Whether a line below an entry with a value was moved a level in, with all that is below it.
    ///
    /// ```text
    /// a:            → a:
    ///   b: 1            b: 1
    ///     c:            c:
    ///       d: 2          d: 2
    ///   e: 3            e: 3
    /// ```
    ///
    /// Without it, 14 more of 2,168 replayed moves of a block would disturb other lines.
    fn was_moved_in(&mut self, column: i32, token: Token) -> bool {
        let low = self.top().indent;
        let whole = self.last_entry().is_some_and(|entry| entry.scalar && entry.one_line && !entry.below_key);
        whole
            && column - low <= self.step.max(2)
            && token == Token::Other
            && self.opens()
            && self.block_end(self.pos, column).is_some_and(|end| end.heads == 1 && end.indent <= low)
    }

    /// The open or just closed level that fits a line best.
    fn best_level(&mut self, column: i32, token: Token, ahead: Option<Ahead>, opens: bool) -> Option<i32> {
        let top = *self.top();
        let mut best: Option<(i32, i32)> = None;
        work::count(self.recently_closed.len());
        let recently_closed: Vec<Frame> =
            self.recently_closed.iter().copied().filter(|g| g.indent > top.indent).collect();
        let known = |indent: i32| indent == top.indent || recently_closed.iter().any(|g| g.indent == indent);
        for frame in recently_closed.iter().chain(Some(&top)) {
            if frame.container == Container::Root {
                continue;
            }
            let mut cost = (2 * (frame.indent - column).abs()).min(8);
            let list = frame.container == Container::Seq;
            if list != (token == Token::Dash) {
                cost += 9;
            }
            if let Some(a) = ahead {
                let fits = if opens {
                    a.indent > frame.indent || (a.indent == frame.indent && a.token == Token::Dash)
                } else {
                    a.indent <= frame.indent && (known(a.indent) || a.indent < top.indent)
                };
                // Without this, 2 more of 2,168 replayed moves of a block would disturb other lines.
                if !fits {
                    cost += 5;
                }
            }
            // Deeper levels come first, and win.
            if best.is_none_or(|b| cost < b.0) {
                best = Some((cost, frame.indent));
            }
        }
        best.map(|b| b.1)
    }

    /// After a level was chosen: makes a line without dash fit a sequence, and one with a dash fit a mapping.
    pub(super) fn settle(&mut self, column: i32, token: Token) -> i32 {
        let top = *self.top();
        match (top.container, token) {
            (Container::Map, Token::Dash) if top.slot == Slot::Closed => self.place_dash(column),
            (Container::Seq, t) if t != Token::Dash => self.place_without_dash(column),
            _ => column,
        }
    }

    /// A dash at the column of a mapping's keys, where no list can start.
    pub(super) fn place_dash(&mut self, column: i32) -> i32 {
        if let Some(list) = self.moved_item(column).or_else(|| self.item_moved_out(column)) {
            return list;
        }
        let start = self.pos;
        let bare = matches!(self.byte(start + 1), b'\n' | b'\r');
        let more =
            self.ahead(start).is_some_and(|a| a.indent > column || (a.indent == column && a.token == Token::Dash));
        if !bare && more && self.last_entry().is_some_and(|e| e.scalar) && self.reopen_value(column) {
            self.error(Span::new(start, start + 1), "a list starts here although its key already has a value");
            return column;
        }
        self.error(
            Span::new(start, start + 1),
            "this `-` does not belong here: the lines around it are keys, not list items",
        );
        self.pos += 1;
        self.skip_blanks();
        self.stray_rest(column)
    }

    /// The column of the list that a dash among the keys of its last item belongs to, if it was moved there with its
    /// whole item.
    ///
    /// ```text
    /// a:            → a:
    ///   - b: 1          - b: 1
    ///     c: 2            c: 2
    ///     - b: 3        - b: 3
    ///       c: 4          c: 4
    /// ```
    ///
    /// Without it, 6 more of 2,168 replayed moves of a block and 19 more of 2,873 pasted copies would disturb other lines.
    fn moved_item(&mut self, column: i32) -> Option<i32> {
        let list = *self.stack.iter().rev().nth(1)?;
        let entry = self.last_entry()?;
        let absent = self.last_value().is_none_or(|value| value.style == Style::Absent);
        let whole = !absent && !entry.list && (!entry.scalar || !entry.below_key);
        let next = self.block_end(self.pos, column)?;
        if list.container != Container::Seq || !whole || !self.recovering || next.heads > 1 || next.indent > list.indent
        {
            return None;
        }
        self.misplaced();
        self.pop_recent();
        Some(list.indent)
    }

    /// The column of the list that ended above, if a dash left of it is one of its items that was moved.
    ///
    /// ```text
    /// a:            → a:
    ///   k: 1            k: 1
    ///   l:              l:
    ///     - b: 1          - b: 1
    ///       c: 2            c: 2
    ///   - b: 3            - b: 3
    ///     c: 4              c: 4
    /// ```
    ///
    /// Without it, 5 more of 2,873 replayed pastes of a copy and 7 more of 2,243 pasted texts would disturb other lines.
    fn item_moved_out(&mut self, column: i32) -> Option<i32> {
        let list = *self.recently_closed.last()?;
        let near = list.indent > column && list.indent - column <= self.step.max(2);
        if !self.recovering || list.container != Container::Seq || !near || !self.fits_top(&list) {
            return None;
        }
        self.misplaced();
        self.reopen(list.indent);
        Some(list.indent)
    }

    /// Goes on behind a sign that was skipped.
    pub(super) fn stray_rest(&mut self, column: i32) -> i32 {
        while !self.at_line_end() && self.token(self.pos) == Token::Dash {
            self.pos += 1;
            self.skip_blanks();
        }
        column
    }

    /// A line without dash at the column of a list's dashes.
    ///
    /// ```text
    /// a:          → a:
    ///   - b: 1        - b: 1
    ///     c: 2          c: 2
    ///   b: 3          - b: 3
    ///     c: 4          c: 4
    /// ```
    pub(super) fn place_without_dash(&mut self, column: i32) -> i32 {
        let start = self.pos;
        let is_key = matches!(scan::plain_line(self.bytes, start, false).1, Stop::Colon(_));
        let top = *self.top();
        if is_key && self.recovering && self.split_above_list(column) {
            return column;
        }
        let item = self.recently_closed.last().copied().filter(|g| {
            g.indent > column && g.container == Container::Map && self.tree.nodes[g.node as usize].parent == top.node
        });
        self.error(Span::new(start, scan::line_end(self.bytes, start)), "a list item must start with `- `");
        let top = self.top();
        top.slot = Slot::Value;
        top.at = start;
        match item {
            Some(item) if is_key => item.indent,
            _ => column + 2,
        }
    }

    /// Text behind a root that is complete.
    pub(super) fn behind_root(&mut self, column: i32) -> i32 {
        let span = Span::new(self.pos, scan::line_end(self.bytes, self.pos));
        if let Some(last) = self.errors.last_mut() {
            last.span = span;
            last.message = "this text follows a value that has already ended".to_owned();
        }
        self.pos = span.end;
        column
    }

    /// The column of a list whose first dash stands behind its key: that of the dash below, if it can be one.
    pub(super) fn floating_dash(&mut self, column: i32, parent: i32) -> i32 {
        match self.ahead(self.pos) {
            Some(a) if a.token == Token::Dash && a.indent >= parent => a.indent,
            Some(a) if a.indent > parent => parent,
            _ => column,
        }
    }
}
