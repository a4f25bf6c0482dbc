//! Collections in brackets and braces, with a stack of their own.

use super::Parser;
use super::scan::{self, Stop};
use crate::Span;
use crate::split::next_line;
use crate::tree::{FLOW, Kind, NONE, Style, UNCLOSED, VERBATIM};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    /// An item or a key may come.
    Start,
    /// The key behind `?`.
    Key,
    /// A key was read; `:` or the end of the entry follows.
    KeyDone,
    /// Behind `:`.
    Value,
    /// An entry is complete; a comma follows.
    Done,
}

#[derive(Clone, Copy, Debug)]
struct Level {
    node: u32,
    seq: bool,
    /// A mapping of one pair written in a sequence without braces.
    pair: bool,
    place: Place,
    key: u32,
    count: u32,
    /// The child in front of the last item, to take that item back as a key.
    before: u32,
    /// Where an absent node stands.
    at: usize,
    props: u32,
}

/// Why reading stopped.
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
        let indent = if self.loose { -1 } else { indent };
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
                b'[' | b'{' => {
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
                    if levels.last().is_some_and(|l| l.place == Place::Start && l.props == NONE) {
                        self.error(Span::new(start, start + 1), "there is no entry in front of this comma");
                    }
                    self.end_entry(&mut levels, start);
                    self.pos += 1;
                    if let Some(top) = levels.last_mut() {
                        top.place = Place::Start;
                        top.at = start + 1;
                    }
                }
                b'?' if top.place == Place::Start && scan::is_white(self.byte(start + 1)) => {
                    if top.seq {
                        self.open_pair(&mut levels, start);
                    }
                    self.pos += 1;
                    if let Some(top) = levels.last_mut() {
                        top.place = Place::Key;
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
                    if matches!(top.place, Place::Done | Place::KeyDone) {
                        if self.line_has_ended_entry(start) {
                            self.abandon(&mut levels);
                            return End::Broken;
                        }
                        self.error(Span::new(start, start + 1), "expected `,` between the entries");
                        self.close_pairs(&mut levels);
                        self.end_entry(&mut levels, start);
                        if let Some(top) = levels.last_mut() {
                            top.place = Place::Start;
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

    fn ends_sign(&self, at: usize) -> bool {
        scan::is_white(self.byte(at)) || scan::is_flow_sign(self.byte(at))
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
                Some(b'#') if self.pos == 0 || scan::is_white(self.bytes[self.pos - 1]) => {
                    let own_line = self.line_has_ended_entry(self.pos);
                    self.comment(own_line);
                }
                Some(_) => return true,
            }
        }
    }

    fn open_flow(&mut self, levels: &mut Vec<Level>) {
        let start = self.pos;
        let seq = self.bytes[start] == b'[';
        let node = self.add_collection(if seq { Kind::Sequence } else { Kind::Mapping }, start, true);
        if let Some(top) = levels.last() {
            if matches!(top.place, Place::Done | Place::KeyDone) {
                self.error(Span::new(start, start + 1), "expected `,` between the entries");
                self.close_pairs(levels);
                self.end_entry(levels, start);
                if let Some(top) = levels.last_mut() {
                    top.place = Place::Start;
                }
            }
            self.put(levels, node);
        }
        self.pos += 1;
        levels.push(Level {
            node,
            seq,
            pair: false,
            place: Place::Start,
            key: NONE,
            count: 0,
            before: NONE,
            at: start + 1,
            props: NONE,
        });
    }

    /// Puts a node where the innermost collection expects one.
    fn put(&mut self, levels: &mut [Level], node: u32) {
        let Some(top) = levels.last_mut() else { return };
        let mut level = *top;
        self.give_props(node, level.props);
        level.props = NONE;
        if level.seq {
            level.before = self.tree.nodes[level.node as usize].last;
            self.append(level.node, node, level.count);
            level.count += 1;
            level.place = Place::Done;
        } else {
            self.append(level.node, node, level.count);
            match level.place {
                Place::Value => {
                    self.marry(level.key, node);
                    level.count += 1;
                    level.place = Place::Done;
                }
                _ => {
                    level.key = node;
                    level.place = Place::KeyDone;
                }
            }
        }
        if let Some(top) = levels.last_mut() {
            *top = level;
        }
    }

    fn put_absent(&mut self, levels: &mut [Level]) {
        let Some(top) = levels.last() else { return };
        let absent = self.add_scalar(Style::Absent, top.at, top.at, VERBATIM);
        self.put(levels, absent);
    }

    /// Completes the entry in front of a comma or a closing bracket.
    fn end_entry(&mut self, levels: &mut [Level], at: usize) {
        let Some(&top) = levels.last() else { return };
        match top.place {
            Place::Start if top.props != NONE => {
                self.put_absent(levels);
                self.end_entry_of_key(levels, at);
            }
            Place::Start => {}
            Place::Key => {
                self.put_absent(levels);
                self.end_entry_of_key(levels, at);
            }
            Place::KeyDone => self.end_entry_of_key(levels, at),
            Place::Value => self.put_absent(levels),
            Place::Done => {}
        }
    }

    fn end_entry_of_key(&mut self, levels: &mut [Level], at: usize) {
        let Some(top) = levels.last_mut() else { return };
        if top.place == Place::KeyDone {
            top.place = Place::Value;
            let key_end = self.tree.nodes[top.key as usize].end as usize;
            top.at = key_end.min(at);
            self.put_absent(levels);
        }
    }

    fn close_flow(&mut self, levels: &mut Vec<Level>, end: usize) {
        self.end_entry(levels, end);
        if let Some(level) = levels.pop() {
            self.tree.nodes[level.node as usize].end = end as u32;
            if let Some(parent) = levels.last_mut() {
                parent.at = end;
            }
        }
    }

    fn close_pairs(&mut self, levels: &mut Vec<Level>) {
        while levels.last().is_some_and(|l| l.pair) {
            self.end_entry(levels, self.pos);
            let Some(level) = levels.pop() else { return };
            let last = self.tree.nodes[level.node as usize].last;
            if last != NONE {
                self.tree.nodes[level.node as usize].end = self.tree.nodes[last as usize].end;
            }
        }
    }

    /// Closes everything that is open where the text breaks off.
    fn abandon(&mut self, levels: &mut Vec<Level>) {
        let end = self.last_content();
        while !levels.is_empty() {
            self.close_pairs(levels);
            self.close_flow(levels, end);
        }
    }

    /// The end of the last text in front of the position.
    fn last_content(&self) -> usize {
        let mut end = self.pos.min(self.bytes.len());
        while end > 0 && scan::is_white(self.bytes[end - 1]) {
            end -= 1;
        }
        end
    }

    fn is_flow_colon(&self, levels: &[Level], at: usize) -> bool {
        if self.ends_sign(at + 1) {
            return true;
        }
        let Some(top) = levels.last() else { return false };
        let before = match top.place {
            Place::KeyDone => top.key,
            Place::Done if top.seq => self.tree.nodes[top.node as usize].last,
            _ => return false,
        };
        let Some(node) = self.tree.nodes.get(before as usize) else { return false };
        let quoted = matches!(node.style, Style::SingleQuoted | Style::DoubleQuoted);
        quoted || (node.flags & FLOW != 0 && node.kind != Kind::Scalar)
    }

    /// Handles `:`. False if it cannot stand here.
    fn flow_colon(&mut self, levels: &mut Vec<Level>, at: usize) -> bool {
        let Some(&top) = levels.last() else { return false };
        match top.place {
            Place::Start if top.seq => {
                self.open_pair(levels, at);
                self.put_absent(levels);
            }
            Place::Done if top.seq => self.item_to_pair(levels),
            Place::Start | Place::Key => self.put_absent(levels),
            Place::KeyDone => {}
            Place::Done | Place::Value => {
                // `a: b: c`, or the lines of a block mapping.
                return false;
            }
        }
        self.pos = at + 1;
        if let Some(top) = levels.last_mut() {
            top.place = Place::Value;
            top.at = at + 1;
        }
        true
    }

    fn open_pair(&mut self, levels: &mut Vec<Level>, start: usize) {
        let node = self.add_collection(Kind::Mapping, start, true);
        let props = levels.last().map_or(NONE, |l| l.props);
        if let Some(top) = levels.last_mut() {
            top.props = NONE;
        }
        self.put(levels, node);
        levels.push(Level {
            node,
            seq: false,
            pair: true,
            place: Place::Start,
            key: NONE,
            count: 0,
            before: NONE,
            at: start,
            props,
        });
    }

    /// Makes the last item of a sequence the key of a pair.
    fn item_to_pair(&mut self, levels: &mut Vec<Level>) {
        let Some(top) = levels.last_mut() else { return };
        let list = top.node as usize;
        let item = self.tree.nodes[list].last;
        let before = top.before;
        self.tree.nodes[list].last = before;
        if before == NONE {
            self.tree.nodes[list].first = NONE;
        } else {
            self.tree.nodes[before as usize].next = NONE;
        }
        top.count -= 1;
        let start = self.tree.nodes[item as usize].start as usize;
        self.open_pair(levels, start);
        self.put(levels, item);
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
            _ => self.flow_plain(indent),
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
