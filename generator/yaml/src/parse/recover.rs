//! Lines that fit nowhere: which level they belong to, and what can be read from them.

use super::block::Token;
use super::scan::{self, Stop};
use super::{Container, Frame, Parser, Slot};
use crate::Span;
use crate::split::next_line;
use crate::tree::{NONE, RAW, Style, VERBATIM};

/// The next line that has content.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ahead {
    pub(super) indent: i32,
    pub(super) token: Token,
    /// The line is an entry `key:`, with or without value.
    pub(super) key: bool,
}

impl Parser<'_> {
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
                    return Some(Ahead { indent: spaces as i32, token: self.token(content), key });
                }
            }
        }
    }

    /// Whether the line at the position ends with the colon of a key, so that its value is to follow.
    fn opens(&self) -> bool {
        match scan::plain_line(self.bytes, self.pos, false).1 {
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

    /// The column that a line indented with tabs stands for.
    pub(super) fn tab_column(&mut self, spaces: i32, token: Token) -> i32 {
        let top = *self.top();
        let tabs = (self.pos - self.line_start) as i32 - spaces;
        let scalar_root = top.container == Container::Root;
        let lone_value = token == Token::Other
            && matches!(top.slot, Slot::Value)
            && top.indent < spaces
            && !matches!(scan::plain_line(self.bytes, self.pos, false).1, Stop::Colon(_));
        if lone_value || (scalar_root && matches!(self.bytes[self.pos], b'[' | b'{' | b']' | b'}')) {
            // Tabs may stand in front of a value whose place the spaces already give.
            return spaces.max(0);
        }
        let at = self.line_start + spaces as usize;
        let end = self.pos;
        self.error(Span::new(at, end), "a tab cannot be used as indentation; use spaces");
        // The n-th tab stands for the n-th open level, or for the one to be opened.
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
            let child = top.indent + 2;
            return if (tabs as usize) < levels.len() { levels[tabs as usize] } else { child };
        }
        let index = (tabs as usize).min(levels.len().saturating_sub(1));
        levels.get(index).copied().unwrap_or(0)
    }

    fn misplaced(&mut self) {
        let span = Span::new(self.pos, scan::line_end(self.bytes, self.pos));
        self.error(span, "this line's indentation fits none of the levels around it");
    }

    /// Places a line that is indented deeper than the innermost open level although that level expects no value.
    pub(super) fn place_deeper(&mut self, column: i32, token: Token) -> i32 {
        self.misplaced();
        let low = self.top().indent;
        // Levels that were closed on the way, from the outside in.
        let levels: Vec<i32> = self.ghosts.iter().rev().map(|g| g.indent).filter(|i| *i > low).collect();
        let ahead = self.ahead(self.pos);
        let opens = self.opens();
        if levels.contains(&column) {
            self.reopen(column);
            return self.settle(column, token);
        }
        let high = levels.iter().copied().filter(|i| *i > column).min();
        let below = levels.iter().copied().filter(|i| *i < column).max().unwrap_or(low);
        let target = match (high, ahead) {
            (Some(high), Some(a)) if opens && a.indent <= high => {
                if a.indent == high && below >= 0 {
                    below
                } else {
                    high
                }
            }
            (Some(high), _) => high,
            (None, Some(a)) if below == low && a.indent >= column && column - low > 1 && self.reopen_value() => {
                return column;
            }
            (None, _) => below,
        };
        if target < 0 {
            // Text behind the root's value: nothing can be its parent.
            return self.behind_root(column, token);
        }
        if target != low {
            self.reopen(target);
        }
        self.settle(target, token)
    }

    /// After a level was chosen: makes a line without dash fit a sequence, and one with a dash fit a mapping.
    fn settle(&mut self, column: i32, token: Token) -> i32 {
        let top = *self.top();
        match (top.container, token) {
            (Container::Map, Token::Dash) if top.slot == Slot::Closed => self.place_dash(column),
            (Container::Seq, t) if t != Token::Dash => self.place_without_dash(column, token),
            _ => column,
        }
    }

    /// Opens the levels again that lines further left closed, down to the one at this column.
    fn reopen(&mut self, column: i32) {
        let low = self.top().indent;
        while let Some(ghost) = self.ghosts.last().copied() {
            if ghost.indent > column {
                break;
            }
            self.ghosts.pop();
            if ghost.indent >= low && self.fits_top(&ghost) {
                self.stack.push(Frame { slot: Slot::Closed, props: NONE, ..ghost });
            }
        }
    }

    /// Whether the closed level is a descendant of the innermost open one.
    fn fits_top(&mut self, ghost: &Frame) -> bool {
        let top = *self.top();
        top.container == Container::Root || self.tree.nodes[ghost.node as usize].parent == top.node
    }

    /// Takes the scalar back that was read as the value of the last entry, so that the lines below become its value.
    fn reopen_value(&mut self) -> bool {
        let top = *self.top();
        if top.container != Container::Map || top.slot != Slot::Closed || top.count == 0 {
            return false;
        }
        let value = self.tree.nodes[top.node as usize].last;
        if value == NONE {
            return false;
        }
        let data = self.tree.nodes[value as usize];
        let key = data.mate;
        if data.kind != crate::Kind::Scalar || matches!(data.style, Style::Literal | Style::Folded) || key == NONE {
            return false;
        }
        self.tree.nodes[value as usize].parent = NONE;
        self.tree.nodes[value as usize].mate = NONE;
        self.tree.nodes[key as usize].next = NONE;
        self.tree.nodes[key as usize].mate = NONE;
        self.tree.nodes[top.node as usize].last = key;
        let at = data.start as usize;
        let top = self.top();
        top.count -= 1;
        top.key = key;
        top.slot = Slot::Value;
        top.at = at;
        true
    }

    /// A dash at the column of a mapping's keys, where no list can start.
    pub(super) fn place_dash(&mut self, column: i32) -> i32 {
        let list = self.ghosts.last().is_some_and(|g| g.container == Container::Seq && g.indent == column);
        if list && self.reopen_list(column) {
            return column;
        }
        let start = self.pos;
        let bare = matches!(self.byte(start + 1), b'\n' | b'\r');
        let more =
            self.ahead(start).is_some_and(|a| a.indent > column || (a.indent == column && a.token == Token::Dash));
        if !bare && more && self.reopen_value() {
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

    /// Goes on behind a sign that was skipped.
    fn stray_rest(&mut self, column: i32) -> i32 {
        while !self.at_line_end() && self.token(self.pos) == Token::Dash {
            self.pos += 1;
            self.skip_blanks();
        }
        column
    }

    fn reopen_list(&mut self, column: i32) -> bool {
        let Some(ghost) = self.ghosts.last().copied() else { return false };
        let node = self.tree.nodes[ghost.node as usize];
        let top = *self.top();
        if node.parent != top.node || ghost.indent != column {
            return false;
        }
        self.ghosts.pop();
        self.fill_absent();
        self.error(Span::new(self.pos, self.pos + 1), "this item is cut off from its list by the line above");
        self.stack.push(Frame { slot: Slot::Closed, props: NONE, ..ghost });
        true
    }

    /// A line without dash at the column of a list's dashes.
    pub(super) fn place_without_dash(&mut self, column: i32, token: Token) -> i32 {
        let start = self.pos;
        let is_key = matches!(scan::plain_line(self.bytes, start, false).1, Stop::Colon(_));
        let top = *self.top();
        if top.slot == Slot::Value {
            // `-` alone, and its entry below at the same column.
            self.misplaced();
            return column + 1;
        }
        let item = self.ghosts.last().copied().filter(|g| {
            g.indent > column && g.container == Container::Map && self.tree.nodes[g.node as usize].parent == top.node
        });
        let ahead = self.ahead(start);
        if let Some(item) = item
            && is_key
            && !ahead.is_some_and(|a| a.indent == item.indent && a.token != Token::Dash)
        {
            self.misplaced();
            self.reopen(item.indent);
            return item.indent;
        }
        let _ = token;
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
    fn behind_root(&mut self, column: i32, _token: Token) -> i32 {
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
            _ => column,
        }
    }

    /// Whether the text at this column, which the key at the other column ended, is a key that lacks its colon.
    pub(super) fn is_half_key(&self, column: i32, key_column: i32) -> bool {
        key_column >= column
    }

    pub(super) fn line_start_of(&self, at: usize, _next: usize) -> usize {
        memchr::memrchr2(b'\n', b'\r', &self.bytes[..at]).map_or(0, |i| i + 1)
    }

    /// `a: b: …`: a key where only a value may stand.
    pub(super) fn key_behind_key(&mut self, node: u32, start: usize, colon: usize, props: u32) -> bool {
        let top = *self.top();
        let end = scan::line_end(self.bytes, start);
        self.error(Span::new(start, end), "a second key on one line; put it on a line of its own");
        let deeper = self.ahead(start).is_some_and(|a| a.indent > top.indent && a.key);
        if deeper {
            // The lines below are the entries of a mapping that starts here.
            self.open(Container::Map, top.indent + 1, start);
            self.top().floating = true;
            self.give_props(node, props);
            self.add_key(node, colon + 1);
            self.pos = colon + 1;
            return true;
        }
        self.tree.nodes.truncate(node as usize);
        let mut end = end;
        while end > start && scan::is_space(self.bytes[end - 1]) {
            end -= 1;
        }
        let value = self.add_scalar(Style::Plain, start, end, VERBATIM | RAW);
        self.attach(value);
        self.pos = end;
        false
    }

    /// A line that cannot be read as it is meant: finds a key in it, or takes it as a value.
    pub(super) fn broken_line(&mut self, start: usize, column: i32, keys_only: bool, props: u32) -> bool {
        self.pos = start;
        let _ = props;
        let end = {
            let mut end = scan::line_end(self.bytes, start);
            while end > start && scan::is_space(self.bytes[end - 1]) {
                end -= 1;
            }
            end
        };
        let mut from = start;
        while from < end
            && matches!(
                self.bytes[from],
                b'"' | b'\'' | b'[' | b'{' | b'&' | b'*' | b'!' | b'|' | b'>' | b'@' | b'%' | b'`'
            )
        {
            from += 1;
        }
        let (plain_end, stop) = scan::plain_line(self.bytes, from, false);
        if let Stop::Colon(colon) = stop {
            let mut key_end = plain_end;
            while key_end > from && matches!(self.bytes[key_end - 1], b'"' | b'\'' | b']' | b'}') {
                key_end -= 1;
            }
            self.error(Span::new(start, start + 1), "this key starts with a sign that does not belong to it");
            let key = self.add_scalar(Style::Plain, from, key_end, VERBATIM | RAW);
            if !keys_only {
                self.open(Container::Map, column, start);
            }
            self.add_key(key, colon + 1);
            self.pos = colon + 1;
            return true;
        }
        // No colon: the first word is the key.
        let mut word = from;
        while word < plain_end && !scan::is_space(self.bytes[word]) && self.bytes[word] != b':' {
            word += 1;
        }
        if word == from {
            word = plain_end.max(from);
        }
        let text = String::from_utf8_lossy(&self.bytes[from..word]).into_owned();
        self.error(Span::new(from, word), format!("expected `:` after `{text}`"));
        let key = self.add_scalar(Style::Plain, from, word, VERBATIM | RAW);
        self.add_key(key, word);
        self.pos = word;
        if self.byte(word) == b':' {
            self.pos += 1;
            self.top().at = word + 1;
        }
        self.skip_blanks();
        if !self.at_line_end() {
            let value = self.add_scalar(Style::Plain, self.pos, plain_end.max(self.pos), VERBATIM | RAW);
            self.pos = plain_end.max(self.pos);
            self.attach(value);
        }
        false
    }

    /// A value that starts with a sign YAML keeps for itself.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn reserved_node(
        &mut self,
        start: usize,
        column: i32,
        compact: bool,
        keys_only: bool,
        props: u32,
        end: usize,
        stop: Stop,
    ) -> bool {
        let from = self.pos;
        if keys_only || (compact && matches!(stop, Stop::Colon(_))) {
            return self.broken_line(start, column, keys_only, props);
        }
        let sign = char::from(self.bytes[from]);
        self.error(Span::new(from, from + 1), format!("a value cannot start with `{sign}`; put it in quotes"));
        let node = self.add_scalar(Style::Plain, from, end.max(from + 1), VERBATIM | RAW);
        self.give_props(node, props);
        self.attach(node);
        self.pos = scan::line_end(self.bytes, from);
        false
    }
}
