//! Nodes other than plain scalars and block collections.

use super::Parser;
use super::block::Token;
use super::scan::{self, is_space};
use crate::Span;
use crate::split::next_line;
use crate::tree::{Chomp, Kind, NodeData, RAW, Style, UNCLOSED, VERBATIM};

impl Parser<'_> {
    pub(super) fn alias(&mut self) -> u32 {
        let start = self.pos;
        self.pos = self.token_end(start + 1);
        let node = NodeData::new(Kind::Alias, Style::Plain, start, self.pos);
        self.add_node(node)
    }

    /// Reads a quoted scalar and says whether it stays on its line. `None` if it is broken in a way that the line has
    /// to be read as a whole; the position is then unchanged.
    pub(super) fn quoted_node(&mut self, indent: i32, keys_only: bool) -> Option<(u32, bool)> {
        let start = self.pos;
        let found = self.quoted_at(start, indent, keys_only, false);
        let style = if self.bytes[start] == b'"' { Style::DoubleQuoted } else { Style::SingleQuoted };
        if keys_only && (!found.closed || found.line.is_some()) {
            return None;
        }
        if !found.closed {
            self.error(Span::new(start, start + 1), "this quote is not closed");
        }
        let flags = if found.closed { 0 } else { UNCLOSED };
        let node = self.add_scalar(style, start, found.end, flags);
        self.pos = found.end;
        if let Some(line) = found.line {
            self.line_start = line;
        }
        Some((node, found.line.is_none() && found.closed))
    }

    /// Reads a quoted scalar; one without an end, or whose end cannot be its end, is cut at the end of its line.
    pub(super) fn quoted_at(&mut self, start: usize, indent: i32, one_line: bool, flow: bool) -> scan::Quoted {
        let found = scan::quoted(self.bytes, start, if self.lenient { -1 } else { indent });
        if found.line.is_none() && found.closed {
            return found;
        }
        let junk = found.closed && !self.fits_behind(found.end, flow);
        if found.closed && !junk && !one_line {
            return found;
        }
        let again = found.end - start;
        if again > self.budget && found.closed {
            return found;
        }
        self.budget = self.budget.saturating_sub(again);
        let mut end = scan::line_end(self.bytes, start);
        while end > start + 1 && is_space(self.bytes[end - 1]) {
            end -= 1;
        }
        scan::Quoted { end, closed: false, line: None }
    }

    /// Whether the text at `at` may follow a value.
    fn fits_behind(&self, at: usize, flow: bool) -> bool {
        let mut i = at;
        while is_space(self.byte(i)) {
            i += 1;
        }
        match self.byte(i) {
            b'\n' | b'\r' | b',' | b']' | b'}' => true,
            b'#' => i > at,
            // In flow, a quoted key needs no blank behind its colon.
            b':' => flow || scan::is_white(self.byte(i + 1)),
            _ => false,
        }
    }

    /// Whether a template expression starts here and ends on its line.
    pub(super) fn at_template(&self) -> bool {
        self.bytes[self.pos..].starts_with(b"{{") && {
            let end = scan::line_end(self.bytes, self.pos);
            self.bytes[self.pos..end].windows(2).any(|w| w == b"}}")
        }
    }

    /// Reads `{{ … }}` and what is written around it as one text.
    pub(super) fn template_node(
        &mut self,
        start: usize,
        column: i32,
        compact: bool,
        keys_only: bool,
        props: u32,
    ) -> bool {
        let from = self.pos;
        let line_end = scan::line_end(self.bytes, from);
        let mut end = from;
        let mut stop = scan::Stop::Line;
        let mut i = from;
        while i < line_end {
            let b = self.bytes[i];
            if self.bytes[i..line_end].starts_with(b"{{")
                && let Some(k) = memchr::memmem::find(&self.bytes[i..line_end], b"}}")
            {
                // A `: ` inside the braces belongs to the template.
                i += k + 2;
                end = i;
                continue;
            }
            if b == b':' && scan::is_white(self.byte(i + 1)) {
                stop = scan::Stop::Colon(i);
                break;
            }
            if b == b'#' && i > from && is_space(self.bytes[i - 1]) {
                break;
            }
            i += 1;
            if !is_space(b) {
                end = i;
            }
        }
        let node = self.add_scalar(Style::Plain, from, end, VERBATIM | RAW);
        if let scan::Stop::Colon(colon) = stop {
            return self.key_node(node, start, column, compact, keys_only, colon, props);
        }
        self.pos = end;
        if keys_only {
            self.error(Span::new(from, end), "a key is expected here");
            return false;
        }
        self.give_props(node, props);
        self.attach(node);
        false
    }

    /// Reads a literal or folded scalar; false if the text here is none.
    pub(super) fn block_node(&mut self, indent: i32, props: u32) -> bool {
        let start = self.pos;
        let mut i = start + 1;
        let mut digit = None;
        let mut chomp = Chomp::Clip;
        loop {
            match self.byte(i) {
                b @ b'1'..=b'9' if digit.is_none() => digit = Some(i32::from(b - b'0')),
                b'-' if chomp == Chomp::Clip => chomp = Chomp::Strip,
                b'+' if chomp == Chomp::Clip => chomp = Chomp::Keep,
                _ => break,
            }
            i += 1;
        }
        let header = i;
        while is_space(self.byte(i)) {
            i += 1;
        }
        match self.byte(i) {
            b'\n' | b'\r' => {}
            b'#' if i > header => {
                self.pos = i;
                self.comment(false);
                i = self.pos;
            }
            _ => return false,
        }
        let style = if self.bytes[start] == b'|' { Style::Literal } else { Style::Folded };
        let first = next_line(self.bytes, i);
        let body = self.block_lines(first, indent, digit);
        let mut node = NodeData::new(Kind::Scalar, style, start, body.end.max(header));
        node.first = first as u32;
        node.last = header as u32;
        node.indent = body.indent as u32;
        node.chomp = chomp;
        if body.end <= first {
            // Without content the scalar ends with its header.
            node.end = header as u32;
        }
        let node = self.add_node(node);
        self.give_props(node, props);
        self.attach(node);
        // At the break in front of the next line, so that the line is finished like any other.
        let breaks = matches!(self.bytes.get(body.next.wrapping_sub(1)), Some(b'\n' | b'\r'));
        self.pos = if breaks { body.next - 1 } else { body.next };
        if let Some(span) = body.shallow {
            self.error(span, "this line is indented less than the text block it stands in");
        }
        true
    }

    /// In a text known to be broken: whether a line left of a text block is a line of it that lost its indentation.
    ///
    /// ```text
    /// a: |       → a: |
    ///   one          one
    /// two            two
    ///   three        three
    /// ```
    fn fell_out(&self, here: usize, spaces: usize, indent: i32, content_indent: Option<usize>) -> bool {
        let Some(ahead) = self.ahead(here) else { return false };
        let column = spaces as i32;
        if ahead.indent < content_indent.map_or(indent + 1, |n| n as i32) || ahead.indent <= column {
            return false;
        }
        let token = self.token(here);
        let key = matches!(scan::plain_line(self.bytes, here, false).1, scan::Stop::Colon(_));
        let legal = match token {
            Token::Dash => ahead.indent - column <= self.step.max(2),
            _ if key && self.opens_at(here) => ahead.indent - column <= self.step.max(2),
            _ => false,
        };
        !legal
    }

    fn block_lines(&self, first: usize, indent: i32, digit: Option<i32>) -> BlockBody {
        let bytes = self.bytes;
        let mut content_indent = digit.map(|d| (indent.max(0) + d) as usize);
        let mut body = BlockBody { end: 0, next: first, indent: content_indent.unwrap_or(0), shallow: None };
        let mut at = first;
        let mut deepest_empty = 0;
        while at < bytes.len() {
            let mut spaces = 0;
            while bytes.get(at + spaces) == Some(&b' ') {
                spaces += 1;
            }
            let here = at + spaces;
            let next = next_line(bytes, here);
            let mut empty = matches!(bytes.get(here), None | Some(b'\n' | b'\r'));
            if bytes.get(here) == Some(&b'\t') && content_indent.is_some_and(|n| spaces < n) {
                // Left of the text, a tab is no text.
                let (_, content) = scan::indentation(bytes, at);
                empty = matches!(bytes.get(content), None | Some(b'\n' | b'\r'));
            }
            if empty {
                match content_indent {
                    // Spaces beyond the indentation are text.
                    Some(n) if spaces > n => body.end = here,
                    None => deepest_empty = deepest_empty.max(spaces),
                    _ => {}
                }
            } else {
                let limit = content_indent.unwrap_or((indent + 1).max(0) as usize);
                if spaces < limit {
                    if spaces == 0 && (self.in_conflict || bytes[here] == b'<') && super::is_conflict(bytes, at) {
                        at = next;
                        continue;
                    }
                    let outside = spaces as i32 <= indent || bytes[here] == b'#' || content_indent.is_none();
                    if outside && !(self.recovering && self.fell_out(here, spaces, indent, content_indent)) {
                        break;
                    }
                    if content_indent.is_none() {
                        content_indent = self.ahead(here).map(|a| a.indent.max(0) as usize);
                    }
                    let end = scan::line_end(bytes, here);
                    body.shallow.get_or_insert(Span::new(here, end));
                }
                content_indent.get_or_insert(spaces);
                body.end = scan::line_end(bytes, here);
            }
            at = next;
        }
        body.next = at;
        body.indent = content_indent.unwrap_or(deepest_empty.max((indent + 1).max(0) as usize));
        body
    }
}

struct BlockBody {
    /// Behind the last content line that is not empty, 0 without content.
    end: usize,
    /// Start of the first line behind the scalar.
    next: usize,
    indent: usize,
    /// The first line that is indented less than the content.
    shallow: Option<Span>,
}
