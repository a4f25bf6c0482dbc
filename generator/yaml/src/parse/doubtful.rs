//! Lines of a broken text that could stand where they are, but are likely damaged.

use super::ahead::Ahead;
use super::block::Token;
use super::scan::{self, Stop};
use super::{Container, Frame, Parser, Slot};
use crate::work;

impl Parser<'_> {
    /// In a text known to be broken: places a line that could stand where it is, but is likely damaged.
    ///
    /// The search finds most of this as well, but its first reading is a worse one without: of the keys behind damage,
    /// one in a hundred less is found, and of the replayed edits, 9 more of 2,873 pasted copies and 5 more of 2,243
    /// pasted texts would disturb other lines.
    pub(super) fn doubtful(&mut self, column: i32, token: Token) -> Option<i32> {
        work::count(self.stack.len() + self.recently_closed.len());
        let top = *self.top();
        let step = self.step.max(2);
        if top.indent < column && top.slot == Slot::Value && top.container != Container::Root {
            // A jump to the right that leads back to a level closed by the line above.
            let ghost = self.recently_closed.iter().any(|g| g.indent == column);
            if ghost && column - top.indent > step {
                self.misplaced();
                self.fill_absent();
                self.reopen(column);
                let column = self.top().indent;
                return Some(self.settle(column, token));
            }
            let level = top.indent + step;
            if top.container == Container::Map && column > level && self.stands_too_deep(self.pos, column, level) {
                self.misplaced();
                return Some(level);
            }
            return None;
        }
        if top.indent <= column || token == Token::Question || token == Token::Colon {
            return None;
        }
        let ahead = self.ahead(self.pos).filter(|a| a.indent > column)?;
        if self.opens() {
            let level = column + step;
            let moved = ahead.indent > level && self.stands_too_deep(ahead.at, ahead.indent, level);
            if moved || self.parent_is_gone(column, ahead) {
                return None;
            }
        }
        if let Some(child) = self.lost_child(column, token, ahead) {
            self.misplaced();
            return Some(child);
        }
        let target = if token == Token::Other && self.opens() {
            self.level_of_opener(column, ahead)?
        } else {
            self.level_of_leaf(column, token, ahead)?
        };
        self.misplaced();
        while self.top().indent > target {
            self.pop_recent();
        }
        let top = *self.top();
        if top.container == Container::Seq && token != Token::Dash {
            self.pop_recent();
        }
        Some(self.settle(target, token))
    }

    /// Whether the block of one entry at `at` was moved to the right as a whole: behind it the text goes on at `level`.
    ///
    /// ```text
    /// a:            → a:
    ///   b:              b:
    ///       c: 1          c: 1
    ///     d: 2            d: 2
    /// e: 1            e: 1
    /// ```
    pub(super) fn stands_too_deep(&self, at: usize, column: i32, level: i32) -> bool {
        self.block_end(at, column).is_some_and(|end| end.heads == 1 && end.indent == level)
    }

    /// The column of a first entry that lost its indentation, below a key that waits for its value: the lines behind
    /// it go on inside that value.
    ///
    /// ```text
    /// a:          → a:
    ///   b:            b:
    /// c: 1              c: 1
    ///     d: 2          d: 2
    ///   e: 3          e: 3
    /// ```
    pub(super) fn lost_child(&self, column: i32, token: Token, ahead: Ahead) -> Option<i32> {
        let top = self.stack.last()?;
        let step = self.step.max(2);
        let deeper = ahead.indent - top.indent;
        if top.container != Container::Map || top.slot != Slot::Value || token != Token::Other || !ahead.key {
            return None;
        }
        if self.opens() {
            let list = ahead.token == Token::Dash && deeper == step;
            (list || (deeper == 2 * step && ahead.indent - column > step)).then_some(top.indent + step)
        } else {
            let alone = match scan::plain_line(self.bytes, self.pos, false).1 {
                Stop::Colon(colon) => !self.continues(self.behind_blanks(colon + 1)),
                _ => !self.continues(self.pos),
            };
            (alone && deeper == step).then_some(ahead.indent)
        }
    }

    /// A jump to the left by a line whose value is written far to the right: the line's own indentation is missing.
    ///
    /// ```text
    /// a:            → a:
    ///   b:              b:
    ///     c: 1            c: 1
    /// d:                  d:
    ///       e: 2            e: 2
    ///     f: 3            f: 3
    /// ```
    pub(super) fn level_of_opener(&self, column: i32, ahead: Ahead) -> Option<i32> {
        let step = self.step.max(2);
        if ahead.indent - column < 2 * step {
            return None;
        }
        let fits = |f: &&Frame| {
            let deeper = ahead.indent - f.indent;
            f.container == Container::Map
                && f.indent > column
                && (deeper == step || (ahead.token == Token::Dash && (0..=step).contains(&deeper)))
        };
        self.stack.iter().rev().find(fits).map(|f| f.indent)
    }

    /// A jump to the left by a line that is complete, and back to the right by the next.
    ///
    /// ```text
    /// a:        → a:
    ///   b: 1        b: 1
    /// c: 2          c: 2
    ///   d: 3        d: 3
    /// ```
    pub(super) fn level_of_leaf(&mut self, column: i32, token: Token, ahead: Ahead) -> Option<i32> {
        if token == Token::Dash && ahead.indent - column <= self.step.max(2) {
            return None;
        }
        let open_end = match scan::plain_line(self.bytes, self.pos, false).1 {
            Stop::Colon(colon) => self.continues(self.behind_blanks(colon + 1)),
            _ => token != Token::Dash && self.continues(self.pos),
        };
        if open_end || self.two_on_a_line() || !(ahead.key || ahead.token == Token::Dash) {
            return None;
        }
        // If the line after that is back at this column, the next line is the odd one.
        if self.ahead(ahead.at).is_some_and(|second| second.indent <= column && second.indent >= 0)
            && !self.stack.iter().any(|f| f.indent == column)
        {
            return None;
        }
        if self.ahead(ahead.at).is_some_and(|second| second.indent == column) {
            return None;
        }
        let dash = ahead.token == Token::Dash;
        let at = self.stack.iter().rposition(|f| f.indent == ahead.indent && (f.container == Container::Seq) == dash);
        let Some(at) = at else {
            // The next line may open a level of its own below the one this line belongs to.
            return None;
        };
        let frame =
            if dash && token != Token::Dash { self.stack.get(at + 1).or(self.stack.get(at))? } else { &self.stack[at] };
        if token == Token::Dash {
            let list = self.stack[..=at].iter().rev().find(|f| f.container == Container::Seq && f.indent > column)?;
            return Some(list.indent);
        }
        Some(frame.indent)
    }
}
