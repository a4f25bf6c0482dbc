//! Lines that fit nowhere: which level they belong to, and what can be read from them.

use super::block::Token;
use super::scan::{self, Stop};
use super::{Container, Frame, Parser, Slot, line};
use crate::Span;
use crate::split::next_line;
use crate::tree::{NONE, RAW, Style, VERBATIM};

/// The next line that has content.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ahead {
    pub(super) indent: i32,
    /// Where its content starts.
    pub(super) at: usize,
    pub(super) token: Token,
    /// The line is an entry `key:`, with or without value.
    pub(super) key: bool,
}

/// The last complete entry of a mapping.
#[derive(Clone, Copy, Debug)]
struct LastEntry {
    /// The value is a scalar, but no text block.
    scalar: bool,
    /// The value starts on a line below its key.
    below_key: bool,
    /// The value is on one line.
    one_line: bool,
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
                    return Some(Ahead { indent: spaces as i32, at: content, token: self.token(content), key });
                }
            }
        }
    }

    /// Whether the line at the position ends with the colon of a key, so that its value is to follow.
    fn opens(&self) -> bool {
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
            || (scalar_root && self.loose)
            || (scalar_root && matches!(self.bytes[self.pos], b'[' | b'{' | b']' | b'}'))
        {
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

    /// In a text known to be broken: a dash that lost its blank, by the lines below.
    pub(super) fn dash_without_blank(&self, at: usize) -> bool {
        if self.byte(at) != b'-' || !self.byte(at + 1).is_ascii_alphanumeric() {
            return false;
        }
        let column = (at - self.line_start) as i32;
        let Some(top) = self.stack.last() else { return false };
        let list =
            top.slot == Slot::Value || self.stack.iter().any(|f| f.container == Container::Seq && f.indent == column);
        list && self.ahead(at).is_some_and(|a| {
            (a.indent == column + 2 && a.key && a.token == Token::Other)
                || (a.indent == column && a.token == Token::Dash)
        })
    }

    /// In a text known to be broken: the start of a key behind a lone sign that took the place of its indentation.
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

    fn behind_blanks(&self, mut at: usize) -> usize {
        while scan::is_space(self.byte(at)) {
            at += 1;
        }
        at
    }

    fn misplaced(&mut self) {
        let span = Span::new(self.pos, scan::line_end(self.bytes, self.pos));
        self.error(span, "this line's indentation fits none of the levels around it");
    }

    /// Places a line that is indented deeper than the innermost open level although that level expects no value.
    pub(super) fn place_deeper(&mut self, column: i32, token: Token) -> i32 {
        self.misplaced();
        let low = self.top().indent;
        let ahead = self.ahead(self.pos);
        let opens = self.opens();
        // The value of the last entry may be what is wrong: a stray text, or a line that was meant to open a level.
        if low >= 0 && ahead.is_none_or(|a| a.indent >= column || self.distrust) {
            let entry = self.last_entry();
            let value_below = entry.is_some_and(|e| e.below_key && e.one_line);
            let more = ahead.is_some_and(|a| a.indent >= column);
            let cheap = column - low >= 2 && entry.is_some_and(|e| e.scalar);
            let ghost = self.ghosts.iter().any(|g| g.indent == column);
            let glued = self.glued_entry();
            if (value_below || (cheap && more && (!ghost || glued.is_some()))) && self.reopen_value(column) {
                self.blame(glued);
                return self.settle(column, token);
            }
            let key = self.last_key();
            if more && self.split_last_key(column) {
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
            // The entries read so far stood too deep, not this one.
            self.set_indent(column);
        }
        let column = self.top().indent;
        self.settle(column, token)
    }

    /// The open or just closed level that fits a line best.
    fn best_level(&mut self, column: i32, token: Token, ahead: Option<Ahead>, opens: bool) -> Option<i32> {
        let top = *self.top();
        let mut best: Option<(i32, i32)> = None;
        let ghosts: Vec<Frame> = self.ghosts.iter().copied().filter(|g| g.indent > top.indent).collect();
        let known = |indent: i32| indent == top.indent || ghosts.iter().any(|g| g.indent == indent);
        for frame in ghosts.iter().chain(Some(&top)) {
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
                if !fits {
                    cost += 5;
                }
                if opens && a.indent - frame.indent > self.step {
                    cost += 3;
                }
            }
            // Deeper levels come first, and win.
            if best.is_none_or(|b| cost < b.0) {
                best = Some((cost, frame.indent));
            }
        }
        best.map(|b| b.1)
    }

    /// In a text known to be broken: places a line that could stand where it is, but is likely damaged.
    pub(super) fn doubtful(&mut self, column: i32, token: Token) -> Option<i32> {
        let top = *self.top();
        let step = self.step.max(2);
        if top.indent < column && top.slot == Slot::Value && top.container != Container::Root {
            // A jump to the right that leads back to a level closed by the line above.
            let ghost = self.ghosts.iter().any(|g| g.indent == column);
            if ghost && column - top.indent > step {
                self.misplaced();
                self.fill_absent();
                self.reopen(column);
                let column = self.top().indent;
                return Some(self.settle(column, token));
            }
            return None;
        }
        if top.indent <= column || token == Token::Question || token == Token::Colon {
            return None;
        }
        let ahead = self.ahead(self.pos).filter(|a| a.indent > column)?;
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
            self.pop_to_ghosts();
        }
        let top = *self.top();
        if top.container == Container::Seq && token != Token::Dash {
            self.pop_to_ghosts();
        }
        Some(self.settle(target, token))
    }

    /// The column of a first entry that lost its indentation, below a key that waits for its value: the lines behind
    /// it go on inside that value.
    fn lost_child(&self, column: i32, token: Token, ahead: Ahead) -> Option<i32> {
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
    fn level_of_opener(&self, column: i32, ahead: Ahead) -> Option<i32> {
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
    fn level_of_leaf(&mut self, column: i32, token: Token, ahead: Ahead) -> Option<i32> {
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

    /// Whether the line at the position holds two entries, `outer: inner: …` or `outer:inner: …`, so that the lines
    /// below can belong to it.
    fn two_on_a_line(&self) -> bool {
        let Stop::Colon(colon) = scan::plain_line(self.bytes, self.pos, false).1 else { return false };
        let value = self.behind_blanks(colon + 1);
        let glued = memchr::memchr(b':', &self.bytes[self.pos..colon]).is_some();
        glued || matches!(scan::plain_line(self.bytes, value, false).1, Stop::Colon(_))
    }

    /// Whether a value that starts at `at` may go on behind its line.
    fn continues(&self, at: usize) -> bool {
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

    /// The last complete entry of the innermost mapping.
    fn last_entry(&mut self) -> Option<LastEntry> {
        let top = *self.top();
        if top.container != Container::Map || top.slot != Slot::Closed || top.count == 0 {
            return None;
        }
        let value = self.tree.nodes[top.node as usize].last;
        let data = *self.tree.nodes.get(value as usize)?;
        let key = self.tree.nodes.get(data.mate as usize)?;
        let (start, end) = (data.start as usize, (data.end as usize).min(self.bytes.len()));
        let breaks = |from: usize, to: usize| self.bytes[from.min(to)..to].iter().any(|b| matches!(b, b'\n' | b'\r'));
        Some(LastEntry {
            scalar: data.kind == crate::Kind::Scalar && !matches!(data.style, Style::Literal | Style::Folded),
            below_key: breaks(key.end as usize, start),
            one_line: !breaks(start, end),
        })
    }

    /// The last entry's line holds two entries: `outer:inner: value` or `outer: inner: value`.
    fn glued_entry(&self) -> Option<Span> {
        let value = self.last_value()?;
        let key = self.tree.nodes.get(value.mate as usize)?;
        let text = |n: &crate::tree::NodeData| {
            let end = (n.end as usize).min(self.bytes.len());
            &self.bytes[(n.start as usize).min(end)..end]
        };
        let glued = key.style == Style::Plain
            && value.style == Style::Plain
            && (text(key).contains(&b':') || text(value).windows(2).any(|w| w == b": "));
        if glued { self.last_key() } else { None }
    }

    fn last_value(&self) -> Option<&crate::tree::NodeData> {
        let top = self.stack.last()?;
        let last = self.tree.nodes.get(top.node as usize)?.last;
        self.tree.nodes.get(last as usize)
    }

    /// Where the key of the innermost mapping's last entry stands.
    fn last_key(&self) -> Option<Span> {
        let key = self.tree.nodes.get(self.last_value()?.mate as usize)?;
        Some(Span::new(key.start as usize, key.end as usize))
    }

    /// Two entries on one line were found by the indentation below them: the fault is there, not here.
    fn blame(&mut self, key: Option<Span>) {
        if let Some(key) = key
            && let Some(last) = self.errors.last_mut()
        {
            last.span = key;
            last.message = "a second key on one line; put it on a line of its own".to_owned();
        }
    }

    /// Takes back what was read as the value of the last entry, so that the lines below become its value. A mapping of
    /// one line is kept, and moved to the column.
    fn reopen_value(&mut self, column: i32) -> bool {
        let Some(entry) = self.last_entry() else { return false };
        if !entry.scalar && !entry.one_line {
            return false;
        }
        let top = *self.top();
        let value = self.tree.nodes[top.node as usize].last;
        let data = self.tree.nodes[value as usize];
        let key = data.mate;
        if key == NONE || matches!(data.style, Style::Literal | Style::Folded) {
            return false;
        }
        if let Some(ghost) = self.ghosts.iter().rev().copied().find(|g| g.node == value)
            && ghost.container == Container::Map
        {
            self.reopen(ghost.indent);
            if self.top().node == value {
                self.set_indent(column);
                return true;
            }
            return false;
        }
        self.tree.nodes[value as usize].parent = NONE;
        self.tree.nodes[value as usize].mate = NONE;
        self.tree.nodes[key as usize].next = NONE;
        self.tree.nodes[key as usize].mate = NONE;
        self.tree.nodes[top.node as usize].last = key;
        self.ghosts.clear();
        // `outer:inner: value` was the line of the outer key.
        let (from, to) = (self.tree.nodes[key as usize].start as usize, self.tree.nodes[key as usize].end as usize);
        if self.tree.nodes[key as usize].style == Style::Plain
            && let Some(colon) = self.bytes[from..to].iter().position(|b| *b == b':')
            && colon > 0
        {
            self.tree.nodes[key as usize].end = (from + colon) as u32;
        }
        let at = data.start as usize;
        let top = self.top();
        top.count -= 1;
        top.key = key;
        top.slot = Slot::Value;
        top.at = at;
        true
    }

    /// `outer:inner:` with its value below, when a line follows that belongs between the two: makes the inner key the
    /// first entry of a mapping in the outer one.
    fn split_last_key(&mut self, column: i32) -> bool {
        let top = *self.top();
        if top.container != Container::Map || top.slot != Slot::Closed || top.count == 0 {
            return false;
        }
        let value = self.tree.nodes[top.node as usize].last;
        let data = self.tree.nodes[value as usize];
        let key = data.mate;
        let Some(key_data) = self.tree.nodes.get(key as usize).copied() else { return false };
        let collection = data.kind != crate::Kind::Scalar && data.flags & crate::tree::FLOW == 0;
        let list = data.kind == crate::Kind::Sequence;
        let deeper = data.indent as i32 > column || (list && data.indent as i32 == column);
        if key_data.style != Style::Plain || !collection || !deeper {
            return false;
        }
        let (start, end) = (key_data.start as usize, key_data.end as usize);
        let Some(colon) = self.bytes[start..end].iter().position(|b| *b == b':') else { return false };
        let inner_start = start + colon + 1;
        if inner_start >= end || colon == 0 {
            return false;
        }
        // The map takes the value's place; the value moves into it.
        let map = self.add_collection(crate::Kind::Mapping, inner_start, false);
        let inner = self.add_scalar(Style::Plain, inner_start, end, VERBATIM | RAW);
        let nodes = &mut self.tree.nodes;
        nodes[key as usize].end = (start + colon) as u32;
        nodes[key as usize].next = map;
        nodes[top.node as usize].last = map;
        nodes[map as usize].parent = top.node;
        nodes[map as usize].ordinal = data.ordinal;
        nodes[map as usize].indent = column.max(0) as u32;
        nodes[value as usize].next = NONE;
        self.marry(key, map);
        self.append(map, inner, 0);
        self.append(map, value, 0);
        self.marry(inner, value);
        self.ghosts.clear();
        self.stack.push(Frame {
            node: map,
            container: Container::Map,
            slot: Slot::Closed,
            indent: column,
            key: NONE,
            count: 1,
            at: end,
            props: NONE,
            floating: false,
        });
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
        if is_key && self.distrust && self.split_above_list(column) {
            return column;
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

    /// A key at the column of the dashes, where the list's own key is `outer:inner`: closes the list and makes the line
    /// the neighbour of the inner key.
    fn split_above_list(&mut self, column: i32) -> bool {
        let Some(list) = self.stack.last() else { return false };
        let key = self.tree.nodes[list.node as usize].mate;
        let Some(data) = self.tree.nodes.get(key as usize).copied() else { return false };
        let span = Span::new(data.start as usize, data.end as usize);
        if data.style != Style::Plain || !self.bytes[span.start..span.end].contains(&b':') {
            return false;
        }
        self.pop_to_ghosts();
        self.error(span, "a second key on one line; put it on a line of its own");
        self.split_last_key(column)
    }

    /// Text behind a root that is complete.
    fn behind_root(&mut self, column: i32) -> i32 {
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

    pub(super) fn line_start_of(&self, at: usize, _next: usize) -> usize {
        memchr::memrchr2(b'\n', b'\r', &self.bytes[..at]).map_or(0, |i| i + 1)
    }

    /// Where the second of two entries on one line starts: at a blank, or behind a number.
    fn glue(&self, start: usize, colon: usize) -> Option<usize> {
        let text = &self.bytes[start..colon];
        if let Some(blank) = text.iter().rposition(|b| scan::is_space(*b)) {
            return Some(start + blank);
        }
        let digits = text.iter().take_while(|b| b.is_ascii_digit()).count();
        let word = text[digits..].iter().take_while(|b| b.is_ascii_alphabetic()).count();
        (digits > 0 && word > 2 && digits + word == text.len()).then_some(start + digits)
    }

    /// The level of a key in the middle of a line: the one that the line below is indented from.
    fn level_above(&self, at: usize) -> Option<i32> {
        let below = self.ahead(at)?;
        let fits = |f: &&Frame| {
            let deeper = below.indent - f.indent;
            f.container == Container::Map && (deeper == self.step.max(2) || (below.token == Token::Dash && deeper == 0))
        };
        self.stack.iter().rev().find(fits).map(|f| f.indent)
    }

    /// Starts an entry in the middle of a line, at the level of the lines below it.
    fn second_entry(&mut self, start: usize, colon: usize, level: Option<i32>) -> bool {
        if let Some(level) = level {
            while self.top().indent > level {
                self.pop_to_ghosts();
            }
        }
        if self.top().container != Container::Map {
            return false;
        }
        let key = self.add_scalar(Style::Plain, start, colon, VERBATIM);
        self.add_key(key, colon + 1);
        self.pos = colon + 1;
        true
    }

    /// `a: "value"b:`: reads the key behind a value that has ended, when lines below are its value.
    pub(super) fn key_behind_value(&mut self) -> bool {
        if !self.opens() || self.byte(self.pos) == b'#' || self.top().slot != Slot::Closed {
            return false;
        }
        let Stop::Colon(colon) = scan::plain_line(self.bytes, self.pos, false).1 else { return false };
        let Some(level) = self.level_above(self.pos) else { return false };
        self.second_entry(self.pos, colon, Some(level))
    }

    /// `a: b: …`: a key where only a value may stand.
    pub(super) fn key_behind_key(&mut self, node: u32, start: usize, colon: usize, props: u32) -> bool {
        let top = *self.top();
        let end = scan::line_end(self.bytes, start);
        self.error(Span::new(start, end), "a second key on one line; put it on a line of its own");
        let opens = matches!(self.byte(self.behind_blanks(colon + 1)), b'\n' | b'\r' | b'#');
        let deeper = self.ahead(start).is_some_and(|a| a.indent > top.indent && (a.key || opens));
        let glue = self.glue(start, colon);
        let blank = glue.is_some_and(|at| scan::is_space(self.bytes[at]));
        let wide = self.bytes[start..colon].windows(2).any(|w| w == b"  ");
        let level = if opens { self.level_above(start) } else { None };
        if let Some(inner) = glue
            && props == NONE
            && ((opens && (deeper || level.is_some())) || (blank && wide))
        {
            // `a: value b:`: two entries on one line.
            self.tree.nodes.truncate(node as usize);
            let mut value_end = inner;
            while value_end > start && scan::is_space(self.bytes[value_end - 1]) {
                value_end -= 1;
            }
            let value = self.add_scalar(Style::Plain, start, value_end, VERBATIM);
            self.attach(value);
            if self.second_entry(self.behind_blanks(inner), colon, level) {
                return true;
            }
        }
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
        let header = word.max(from + 1) - 1;
        let block = matches!(self.byte(header), b'|' | b'>')
            && header > from
            && self.ahead(start).is_some_and(|a| a.indent > self.stack.last().map_or(-1, |f| f.indent));
        if block {
            word = header;
        }
        let text = String::from_utf8_lossy(&self.bytes[from..word]).into_owned();
        self.error(Span::new(from, word), format!("expected `:` after `{text}`"));
        let key = self.add_scalar(Style::Plain, from, word, VERBATIM | RAW);
        self.add_key(key, word);
        let indent = self.top().indent;
        if block {
            self.pos = word;
            if self.block_node(indent, NONE) {
                return false;
            }
        }
        let childless = match self.ahead(start) {
            // Items at the key's column are its value, but for those of a list that this line stands in.
            Some(a) if a.indent == indent && a.token == Token::Dash => {
                self.ghosts.last().is_some_and(|g| g.container == Container::Seq && g.indent == indent)
            }
            Some(a) if a.indent > indent => {
                self.ghosts.iter().any(|g| g.indent == a.indent) || a.indent - indent > self.step.max(2)
            }
            _ => true,
        };
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
        } else if childless {
            self.fill_absent();
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
