//! Collections in brackets and braces, with a stack of their own.

use super::Parser;
use super::flow_levels::{FlowSlot, Level};
use super::scan::{self, Stop};
use crate::split::next_line;
use crate::tree::{Kind, NONE, RAW, Style, UNCLOSED, VERBATIM};
use crate::{Span, work};

enum End {
    Closed,
    /// A line that is not indented deep enough, or the end of the text.
    Open,
    /// Text that cannot be in a flow collection.
    Broken,
}

impl Parser<'_> {
    /// Reads a flow collection and says whether it stays on one line. `None` if it is broken in a way that the line
    /// has to be read as a whole; the position is then unchanged.
    pub(super) fn flow_node(&mut self, indent: i32, keys_only: bool) -> Option<(u32, bool)> {
        // yaml-rust2 lets flow text go on at any column.
        let indent = if self.lenient { -1 } else { indent };
        let start = self.pos;
        let line = self.line_start;
        let marks = (self.tree.nodes.len(), self.tree.props.len(), self.comments.len(), self.errors.len());
        let whole = self.bytes;
        let node = marks.0 as u32;
        if keys_only {
            // A key must stay on its line.
            self.bytes = &whole[..scan::line_end(whole, start)];
            let end = self.flow(indent);
            self.bytes = whole;
            if !matches!(end, End::Closed) || scan::colon_after(self.bytes, self.pos).is_none() {
                self.roll_back(start, line, marks);
                return None;
            }
            return Some((node, true));
        }
        let mut end = self.flow(indent);
        if !matches!(end, End::Closed) && self.line_start != line {
            let read = self.pos - start;
            if read <= self.budget {
                self.budget -= read;
                let cut = self.cut_of_flow(start, indent);
                self.roll_back(start, line, marks);
                if cut <= start + 1 {
                    // Nothing stands behind the bracket: it is left out, and the lines below are the value.
                    self.error(Span::new(start, start + 1), "this bracket is not closed");
                    self.pos = start + 1;
                    let node = self.add_collection(
                        if whole[start] == b'[' { Kind::Sequence } else { Kind::Mapping },
                        start,
                        true,
                    );
                    self.tree.nodes[node as usize].end = start as u32 + 1;
                    self.tree.nodes[node as usize].flags |= UNCLOSED;
                    return Some((node, false));
                }
                self.bytes = &whole[..cut];
                end = self.flow(indent);
                self.bytes = whole;
            }
        }
        if !matches!(end, End::Closed) {
            self.tree.nodes[node as usize].flags |= UNCLOSED;
            self.error(Span::new(start, start + 1), "this bracket is not closed");
        }
        Some((node, self.line_start == line))
    }

    fn roll_back(&mut self, start: usize, line: usize, marks: (usize, usize, usize, usize)) {
        self.pos = start;
        self.line_start = line;
        self.tree.nodes.truncate(marks.0);
        self.tree.props.truncate(marks.1);
        self.comments.truncate(marks.2);
        self.errors.truncate(marks.3);
    }

    /// Where an unclosed collection is taken to end: in front of the first line that reads like block style.
    fn cut_of_flow(&self, start: usize, indent: i32) -> usize {
        let bytes = self.bytes;
        let mut end = scan::line_end(bytes, start);
        let trim = |mut end: usize| {
            while end > start && scan::is_space(bytes[end - 1]) {
                end -= 1;
            }
            end
        };
        loop {
            let line = next_line(bytes, end);
            let (spaces, content) = scan::indentation(bytes, line);
            match bytes.get(content) {
                None => return trim(end),
                Some(b'\n' | b'\r') => {
                    end = content;
                    continue;
                }
                Some(_) if spaces as i32 <= indent => return trim(end),
                Some(_) => {}
            }
            let last = trim(scan::line_end(bytes, content));
            let block = matches!(scan::plain_line(bytes, content, false).1, Stop::Colon(_)) || {
                bytes[content] == b'-' && scan::is_white(self.byte(content + 1))
            };
            if block && !matches!(bytes[last - 1], b',' | b'{' | b'[' | b'}' | b']') && bytes[trim(end) - 1] != b',' {
                return trim(end);
            }
            end = scan::line_end(bytes, content);
        }
    }

    fn flow(&mut self, indent: i32) -> End {
        let mut levels: Vec<Level> = Vec::new();
        let depth = self.stack.len() - 1;
        self.open_flow(&mut levels);
        loop {
            if !self.flow_blanks(indent) {
                self.abandon(&mut levels);
                return End::Open;
            }
            let start = self.pos;
            let Some(&top) = levels.last() else { return End::Closed };
            match self.bytes[start] {
                b'[' | b'{' if self.flow_template_end(start).is_none() => {
                    self.open_flow(&mut levels);
                    self.tree.depth = self.tree.depth.max(depth + levels.len());
                }
                b @ (b']' | b'}') => {
                    self.close_pairs(&mut levels);
                    let Some(&top) = levels.last() else { return End::Closed };
                    if (b == b']') != top.seq {
                        self.error(
                            Span::new(start, start + 1),
                            format!("`{}` does not close what was opened", char::from(b)),
                        );
                        // Take it as the end of an outer collection if there is one of its kind.
                        if !levels.iter().any(|l| !l.pair && l.seq == (b == b']')) {
                            self.pos += 1;
                            continue;
                        }
                        while levels.last().is_some_and(|l| l.pair || l.seq != (b == b']')) {
                            self.close_flow(&mut levels, start);
                        }
                    }
                    self.pos += 1;
                    self.close_flow(&mut levels, start + 1);
                    if levels.is_empty() {
                        return End::Closed;
                    }
                }
                b',' => {
                    self.close_pairs(&mut levels);
                    if levels.last().is_some_and(|l| l.place == FlowSlot::Start && l.props == NONE) {
                        self.error(Span::new(start, start + 1), "there is no entry in front of this comma");
                    }
                    self.end_entry(&mut levels, start);
                    self.pos += 1;
                    if let Some(top) = levels.last_mut() {
                        top.place = FlowSlot::Start;
                        top.at = start + 1;
                    }
                }
                b'?' if top.place == FlowSlot::Start && scan::is_white(self.byte(start + 1)) => {
                    if top.seq {
                        self.open_pair(&mut levels, start);
                    }
                    self.pos += 1;
                    if let Some(top) = levels.last_mut() {
                        top.place = FlowSlot::Key;
                        top.at = start + 1;
                    }
                }
                b':' if self.is_flow_colon(&levels, start) => {
                    if !self.flow_colon(&mut levels, start) {
                        self.abandon(&mut levels);
                        return End::Broken;
                    }
                }
                b'&' | b'!' => {
                    let props = self.props();
                    if let Some(top) = levels.last_mut() {
                        top.props = props;
                        top.at = self.pos;
                    }
                }
                _ => {
                    if matches!(top.place, FlowSlot::Done | FlowSlot::KeyDone) {
                        if self.line_has_ended_entry(start) {
                            self.abandon(&mut levels);
                            return End::Broken;
                        }
                        self.error(Span::new(start, start + 1), "expected `,` between the entries");
                        self.close_pairs(&mut levels);
                        self.end_entry(&mut levels, start);
                        if let Some(top) = levels.last_mut() {
                            top.place = FlowSlot::Start;
                        }
                    }
                    let node = self.flow_scalar(indent);
                    self.put(&mut levels, node);
                }
            }
        }
    }

    /// Whether the token at `start` is the first on its line, i.e. a comma is missing at the end of a line.
    fn line_has_ended_entry(&self, start: usize) -> bool {
        self.bytes[self.line_start..start].iter().all(|b| scan::is_space(*b))
    }

    /// Steps over blanks, breaks and comments. False at the end or at a line not indented deep enough.
    fn flow_blanks(&mut self, indent: i32) -> bool {
        loop {
            self.skip_blanks();
            match self.bytes.get(self.pos) {
                None => return false,
                Some(b'\n' | b'\r') => {
                    let before = self.pos;
                    let mut line = next_line(self.bytes, before);
                    loop {
                        let (spaces, content) = scan::indentation(self.bytes, line);
                        match self.bytes.get(content) {
                            None => return false,
                            Some(b'\n' | b'\r') => line = next_line(self.bytes, content),
                            Some(b'#') => {
                                self.pos = content;
                                self.line_start = line;
                                break;
                            }
                            Some(b']' | b'}') if spaces as i32 == indent => {
                                self.line_start = line;
                                self.pos = content;
                                break;
                            }
                            Some(_) if spaces as i32 <= indent => return false,
                            Some(_) => {
                                self.line_start = line;
                                self.pos = content;
                                break;
                            }
                        }
                    }
                }
                // Behind the colon of a quoted key a comment needs no blank, as in yaml-rust2.
                Some(b'#')
                    if self.pos == 0
                        || scan::is_white(self.bytes[self.pos - 1])
                        || self.bytes[self.pos - 1] == b':' =>
                {
                    let own_line = self.line_has_ended_entry(self.pos);
                    self.comment(own_line);
                }
                Some(_) => return true,
            }
        }
    }

    fn flow_scalar(&mut self, indent: i32) -> u32 {
        let start = self.pos;
        match self.bytes[start] {
            b'*' => self.alias(),
            b'"' | b'\'' => {
                let found = self.quoted_at(start, indent, false, true);
                if !found.closed {
                    self.error(Span::new(start, start + 1), "this quote is not closed");
                }
                let style = if self.bytes[start] == b'"' { Style::DoubleQuoted } else { Style::SingleQuoted };
                self.pos = found.end;
                if let Some(line) = found.line {
                    self.line_start = line;
                }
                self.add_scalar(style, start, found.end, if found.closed { 0 } else { UNCLOSED })
            }
            _ => match self.flow_template() {
                Some(node) => node,
                None => self.flow_plain(indent),
            },
        }
    }

    /// The end of the template expression that starts at `at` and ends on its line. Between brackets it holds none
    /// itself, so that brackets in brackets, which YAML allows, close as they always do.
    fn flow_template_end(&self, at: usize) -> Option<usize> {
        if self.bytes.get(at..at + 2) != Some(b"{{") {
            return None;
        }
        let inner = self.bytes[at + 2..].iter().position(|b| matches!(b, b'{' | b'}' | b'\n' | b'\r'))?;
        work::count(inner);
        let end = at + 2 + inner;
        (self.bytes.get(end..end + 2) == Some(b"}}")).then_some(end + 2)
    }

    /// Reads a text that has template expressions in it. `None` if the text at the position has none.
    fn flow_template(&mut self) -> Option<u32> {
        let start = self.pos;
        let mut template = None;
        let mut at = start;
        loop {
            let (end, stop) = scan::plain_line(self.bytes, at, true);
            let sign = self.behind_blanks(end);
            match self.flow_template_end(sign) {
                Some(end) if stop == Stop::Sign => {
                    at = end;
                    template = Some(end);
                }
                _ => {
                    let end = template.map(|template| end.max(template))?;
                    self.pos = end;
                    return Some(self.add_scalar(Style::Plain, start, end, VERBATIM | RAW));
                }
            }
        }
    }

    fn flow_plain(&mut self, indent: i32) -> u32 {
        let start = self.pos;
        let (mut end, mut stop) = scan::plain_line(self.bytes, start, true);
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
            if spaces as i32 <= indent || first == b'#' || scan::is_flow_sign(first) {
                break;
            }
            if first == b':' && self.ends_sign(content + 1) {
                break;
            }
            (end, stop) = scan::plain_line(self.bytes, content, true);
            several = true;
            self.line_start = line;
            at = scan::line_end(self.bytes, end);
        }
        // A sign that starts nothing is read as a text of its own.
        let end = if end > start { end } else { start + 1 };
        self.pos = end;
        self.add_scalar(Style::Plain, start, end, if several { 0 } else { VERBATIM })
    }
}
