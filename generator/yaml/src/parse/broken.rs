//! Lines that cannot be read as they are meant: the keys and values that are found in them.

use super::block::Token;
use super::scan::{self, Stop};
use super::{Container, Parser, Slot};
use crate::Span;
use crate::tree::{NONE, RAW, Style, VERBATIM};

impl Parser<'_> {
    pub(super) fn line_start_of(&self, at: usize) -> usize {
        memchr::memrchr2(b'\n', b'\r', &self.bytes[..at]).map_or(0, |i| i + 1)
    }

    /// Where the second of two entries on one line starts: at a blank, or behind a number.
    pub(super) fn glue(&self, start: usize, colon: usize) -> Option<usize> {
        let text = &self.bytes[start..colon];
        if let Some(blank) = text.iter().rposition(|b| scan::is_space(*b)) {
            return Some(start + blank);
        }
        let digits = text.iter().take_while(|b| b.is_ascii_digit()).count();
        let word = text[digits..].iter().take_while(|b| b.is_ascii_alphabetic()).count();
        (digits > 0 && word > 2 && digits + word == text.len()).then_some(start + digits)
    }

    /// Starts an entry in the middle of a line, at the level of the lines below it.
    pub(super) fn second_entry(&mut self, start: usize, colon: usize, level: Option<i32>) -> bool {
        if let Some(level) = level {
            while self.top().indent > level {
                self.pop_recent();
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
    ///
    /// ```text
    /// a: "v"b:    → a: "v"
    ///   c: 1        b:
    /// d: 2            c: 1
    ///               d: 2
    /// ```
    pub(super) fn key_behind_value(&mut self) -> bool {
        if !self.opens() || self.byte(self.pos) == b'#' || self.top().slot != Slot::Closed {
            return false;
        }
        let Stop::Colon(colon) = scan::plain_line(self.bytes, self.pos, false).1 else { return false };
        let Some(level) = self.level_above(self.pos) else { return false };
        self.second_entry(self.pos, colon, Some(level))
    }

    /// `a: b: …`: a key where only a value may stand.
    ///
    /// ```text
    /// x:           → x:
    ///   a: b: c        a: "b: c"
    ///   d: 1           d: 1
    /// ```
    pub(super) fn key_behind_key(&mut self, node: u32, start: usize, colon: usize, props: u32) -> bool {
        let end = scan::line_end(self.bytes, start);
        self.error(Span::new(start, end), "a second key on one line; put it on a line of its own");
        let opens = matches!(self.byte(self.behind_blanks(colon + 1)), b'\n' | b'\r' | b'#');
        let glue = self.glue(start, colon);
        let blank = glue.is_some_and(|at| scan::is_space(self.bytes[at]));
        let wide = self.bytes[start..colon].windows(2).any(|w| w == b"  ");
        let level = if opens { self.level_above(start) } else { None };
        if let Some(inner) = glue
            && props == NONE
            && ((opens && level.is_some()) || (blank && wide))
        {
            // a: v b:    → a: v
            //   c: 1       b:
            //                c: 1
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
    ///
    /// ```text
    /// "b: 2  → b: 2
    /// nam    → nam:
    /// ```
    pub(super) fn broken_line(&mut self, start: usize, column: i32, keys_only: bool) -> bool {
        self.pos = start;
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
        let indent = self.top().indent;
        // A key that is being typed has no value yet. Without this, 6 more of 2,243 replayed pastes of a text would disturb
        // other lines.
        let childless = match self.ahead(start) {
            // Items at the key's column are its value, but for those of a list that this line stands in.
            Some(a) if a.indent == indent && a.token == Token::Dash => {
                self.recently_closed.last().is_some_and(|g| g.container == Container::Seq && g.indent == indent)
            }
            Some(a) if a.indent > indent => {
                self.recently_closed.iter().any(|g| g.indent == a.indent) || a.indent - indent > self.step.max(2)
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
    ///
    /// ```text
    /// a: @x    → a: "@x"
    /// ```
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
            return self.broken_line(start, column, keys_only);
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
