//! Lines of block style: dashes, keys and values.

use super::scan::{self, Stop};
use super::skipped::is_marker_here;
use super::{Container, Parser, Slot, line};
use crate::Span;
use crate::split::next_line;
use crate::tree::{NONE, Style, VERBATIM};

/// What a line starts with, as far as its place depends on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Token {
    Dash,
    Question,
    Colon,
    Other,
}

impl Parser<'_> {
    /// Reads the line at the position, and those its values extend to.
    pub(super) fn line(&mut self) {
        self.line_start = self.pos;
        let (spaces, content) = scan::indentation(self.bytes, self.pos);
        self.pos = content;
        let Some(&first) = self.bytes.get(content) else { return };
        match first {
            b'\n' | b'\r' => {
                self.pos = next_line(self.bytes, content);
                return;
            }
            b'#' => {
                self.comment(true);
                self.pos = next_line(self.bytes, self.pos);
                return;
            }
            b'<' | b'=' | b'>' | b'|' if spaces == 0 && self.conflict_line() => return,
            b'{' if self.template_line() => return,
            _ => {}
        }
        let mut token = self.token(content);
        let mut column = spaces as i32;
        if self.recovering
            && let Some(key) = self.behind_lone_sign(content)
        {
            self.error(Span::new(content, content + 1), "this sign does not belong here");
            self.pos = key;
            column = (key - self.line_start) as i32;
            token = self.token(key);
        }
        if self.pos == content && content - self.line_start > spaces {
            column = self.tab_column(column, token);
        } else if self.recovering && self.orphans(column, token) {
            return;
        }
        let column = self.align(column, token);
        self.inline(column, true);
        self.finish_line();
    }

    pub(super) fn token(&self, at: usize) -> Token {
        match self.byte(at) {
            b'-' if scan::is_white(self.byte(at + 1)) => Token::Dash,
            b'?' if scan::is_white(self.byte(at + 1)) => Token::Question,
            b':' if scan::is_white(self.byte(at + 1)) => Token::Colon,
            _ => Token::Other,
        }
    }

    /// Closes what the line at this column ends, and returns the column of the level it belongs to.
    fn align(&mut self, column: i32, token: Token) -> i32 {
        if self.recovering
            && let Some(column) = self.doubtful(column, token)
        {
            return column;
        }
        loop {
            let top = *self.top();
            if top.indent < column {
                if top.slot != Slot::Closed && top.slot != Slot::KeyDone {
                    return column;
                }
                if top.floating && (top.container == Container::Map || token == Token::Dash) {
                    self.set_indent(column);
                    continue;
                }
                return self.place_deeper(column, token);
            }
            if top.indent == column {
                match (top.container, token) {
                    (Container::Map, Token::Dash) if top.slot == Slot::Closed || top.slot == Slot::KeyDone => {
                        return self.place_dash(column);
                    }
                    (Container::Seq, Token::Dash) | (Container::Map, _) | (Container::Root, _) => return column,
                    (Container::Seq, _) => {
                        let below = self.stack[self.stack.len() - 2];
                        let shared = below.container == Container::Map && (below.indent == column || below.floating);
                        if !shared {
                            return self.place_without_dash(column);
                        }
                    }
                }
            }
            self.pop_recent();
        }
    }

    /// Moves the innermost collection to another column.
    pub(super) fn set_indent(&mut self, column: i32) {
        let top = self.top();
        top.floating = false;
        top.indent = column;
        let node = top.node as usize;
        if let Some(node) = self.tree.nodes.get_mut(node) {
            node.indent = column.max(0) as u32;
        }
    }

    /// Reads the content of a line from the position to its end, or to the end of its last value.
    pub(super) fn inline(&mut self, mut column: i32, line_start: bool) {
        // Block collections may start here; not so behind `key: `.
        let mut compact = true;
        let mut at_start = line_start;
        if self.at_line_end() {
            return;
        }
        loop {
            match self.token(self.pos) {
                Token::Dash => {
                    self.dash(column, compact);
                    compact = true;
                }
                Token::Question if compact => self.question(column),
                Token::Colon if compact => self.colon(column),
                _ => {
                    if !self.node(column, compact, at_start) {
                        return;
                    }
                    compact = false;
                }
            }
            at_start = false;
            self.skip_blanks();
            if self.at_line_end() {
                return;
            }
            column = (self.pos - self.line_start) as i32;
        }
    }

    fn dash(&mut self, column: i32, compact: bool) {
        let start = self.pos;
        let top = *self.top();
        if top.container == Container::Seq && top.indent == column {
            self.fill_absent();
        } else {
            let mut indent = column;
            if !compact {
                self.error(
                    Span::new(start, start + 1),
                    "a list cannot start on the line of its key; put it on the next line",
                );
                indent = self.floating_dash(column, top.indent);
            }
            self.open(Container::Seq, indent, start);
            self.top().floating = !compact && indent == top.indent;
        }
        self.pos += 1;
        let at = self.pos;
        let top = self.top();
        top.slot = Slot::Value;
        top.at = at;
    }

    /// Makes the innermost frame the mapping at this column, and closes its last entry.
    fn mapping_at(&mut self, column: i32, start: usize) {
        let top = *self.top();
        if top.container == Container::Map && top.indent == column {
            return;
        }
        self.open(Container::Map, column, start);
    }

    fn question(&mut self, column: i32) {
        self.mapping_at(column, self.pos);
        self.fill_absent();
        self.pos += 1;
        let at = self.pos;
        let top = self.top();
        top.slot = Slot::Key;
        top.at = at;
    }

    fn colon(&mut self, column: i32) {
        self.mapping_at(column, self.pos);
        let start = self.pos;
        let top = *self.top();
        match top.slot {
            Slot::KeyDone => self.top().slot = Slot::Value,
            Slot::Key => {
                let key = self.add_scalar(Style::Absent, top.at, top.at, VERBATIM);
                self.attach(key);
                self.top().slot = Slot::Value;
            }
            Slot::Closed | Slot::Value => {
                self.fill_absent();
                let key = self.add_scalar(Style::Absent, start, start, VERBATIM);
                self.add_key(key, start + 1);
            }
        }
        self.pos = start + 1;
        self.top().at = start + 1;
    }

    /// Starts an entry of the innermost mapping; its value stands from `at` on.
    pub(super) fn add_key(&mut self, key: u32, at: usize) {
        self.fill_absent();
        let top = *self.top();
        if top.container != Container::Map {
            return;
        }
        self.append(top.node, key, top.count);
        let top = self.top();
        top.key = key;
        top.slot = Slot::Value;
        top.at = at;
    }

    /// Reads a node and decides whether it is a key. Returns true if it is; the position is then behind its colon.
    fn node(&mut self, column: i32, compact: bool, at_start: bool) -> bool {
        let start = self.pos;
        let props = self.props();
        if props != NONE && self.at_line_end() {
            self.defer_props(props, start);
            return false;
        }
        let top = *self.top();
        let keys_only = top.container == Container::Map && top.slot == Slot::Closed;
        let first = self.bytes[self.pos];
        let (node, single_line) = match first {
            b'*' => (self.alias(), true),
            b'"' | b'\'' => match self.quoted_node(top.indent, keys_only) {
                Some(found) => found,
                None => return self.broken_line(start, column, keys_only),
            },
            b'[' | b'{' if !self.at_template() => match self.flow_node(top.indent, keys_only) {
                Some(found) => found,
                None => return self.broken_line(start, column, keys_only),
            },
            b'|' | b'>' if !keys_only && self.block_node(top.indent, props) => return false,
            _ => return self.plain_node(start, column, compact, at_start, keys_only, props),
        };
        if single_line && let Some(colon) = scan::colon_after(self.bytes, self.pos) {
            return self.key_node(node, start, column, compact, keys_only, colon, props);
        }
        if keys_only {
            self.tree.nodes.truncate(node as usize);
            return self.broken_line(start, column, keys_only);
        }
        self.give_props(node, props);
        self.attach(node);
        false
    }

    /// Makes a node the key of an entry.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn key_node(
        &mut self,
        node: u32,
        start: usize,
        column: i32,
        compact: bool,
        keys_only: bool,
        colon: usize,
        props: u32,
    ) -> bool {
        if !keys_only {
            let top = *self.top();
            if !compact {
                return self.key_behind_key(node, start, colon, props);
            }
            if !(top.container == Container::Map && top.indent == column) {
                // Behind a dash on the line of a key, the column is that of the lines below.
                let indent = if top.floating { top.indent + 1 } else { column };
                self.open(Container::Map, indent, start);
                self.top().floating = top.floating;
            }
        }
        self.give_props(node, props);
        self.add_key(node, colon + 1);
        self.pos = colon + 1;
        true
    }

    fn plain_node(
        &mut self,
        start: usize,
        column: i32,
        compact: bool,
        at_start: bool,
        keys_only: bool,
        props: u32,
    ) -> bool {
        let from = self.pos;
        if self.at_template() {
            return self.template_node(start, column, compact, keys_only, props);
        }
        let (end, stop) = scan::plain_line(self.bytes, from, false);
        if matches!(self.bytes[from], b'@' | b'`' | b'%' | b'|' | b'>') {
            return self.reserved_node(start, column, compact, keys_only, props, end, stop);
        }
        if let Stop::Colon(colon) = stop {
            let node = self.add_scalar(Style::Plain, from, end, VERBATIM);
            return self.key_node(node, start, column, compact, keys_only, colon, props);
        }
        if keys_only {
            return self.broken_line(start, column, keys_only);
        }
        let top = *self.top();
        let (end, several, before_key) = self.plain_end(end, stop, top.indent);
        if (compact || at_start)
            && let Some(key_column) = before_key.or_else(|| self.key_below(end, top.indent))
            && self.is_half_key(top.indent, column, key_column)
        {
            self.pos = from;
            self.line_start = self.line_start_of(from);
            self.open(Container::Map, column, start);
            return self.broken_line(start, column, true);
        }
        let node = self.add_scalar(Style::Plain, from, end, if several { 0 } else { VERBATIM });
        self.pos = end;
        self.give_props(node, props);
        self.attach(node);
        false
    }

    /// Finds the end of a plain scalar whose first line ends at `end`. Returns also whether it has several lines, and
    /// the column of the key that ended it although it stands deeper than `indent`.
    fn plain_end(&mut self, end: usize, stop: Stop, indent: i32) -> (usize, bool, Option<i32>) {
        let mut end = end;
        let mut stop = stop;
        let mut several = false;
        let mut at = if stop == Stop::Line { scan::line_end(self.bytes, end) } else { end };
        while stop == Stop::Line && at < self.bytes.len() {
            let line = next_line(self.bytes, at);
            let (spaces, content) = scan::indentation(self.bytes, line);
            let Some(&first) = self.bytes.get(content) else { break };
            if first == b'\n' || first == b'\r' {
                at = content;
                continue;
            }
            if spaces as i32 <= indent || first == b'#' {
                break;
            }
            if spaces == 0 && is_marker_here(self.bytes, line, self.in_conflict || first == b'<') {
                break;
            }
            if first == b'{' && line::template_line(self.bytes, content).is_some() {
                break;
            }
            let (line_end, line_stop) = scan::plain_line(self.bytes, content, false);
            if matches!(line_stop, Stop::Colon(_)) {
                return (end, several, Some(spaces as i32));
            }
            end = line_end;
            stop = line_stop;
            several = true;
            self.line_start = line;
            at = scan::line_end(self.bytes, end);
        }
        (end, several, None)
    }
}
