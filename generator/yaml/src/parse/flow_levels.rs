//! The open collections of a flow text, and what is put into them.

use super::Parser;
use super::scan;
use crate::Span;
use crate::tree::{FLOW, Kind, NONE, Style, VERBATIM};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FlowSlot {
    /// An item or a key may come.
    Start,
    Key,
    /// A key was read; `:` or the end of the entry follows.
    KeyDone,
    Value,
    /// An entry is complete; a comma follows.
    Done,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Level {
    pub(super) node: u32,
    pub(super) seq: bool,
    /// A mapping of one pair written in a sequence without braces.
    pub(super) pair: bool,
    pub(super) place: FlowSlot,
    pub(super) key: u32,
    pub(super) count: u32,
    /// The child in front of the last item, to take that item back as a key.
    pub(super) before: u32,
    /// Where an absent node stands.
    pub(super) at: usize,
    pub(super) props: u32,
}

impl Parser<'_> {
    pub(super) fn ends_sign(&self, at: usize) -> bool {
        scan::is_white(self.byte(at)) || scan::is_flow_sign(self.byte(at))
    }

    pub(super) fn open_flow(&mut self, levels: &mut Vec<Level>) {
        let start = self.pos;
        let seq = self.bytes[start] == b'[';
        let node = self.add_collection(if seq { Kind::Sequence } else { Kind::Mapping }, start, true);
        if let Some(top) = levels.last() {
            if matches!(top.place, FlowSlot::Done | FlowSlot::KeyDone) {
                self.error(Span::new(start, start + 1), "expected `,` between the entries");
                self.close_pairs(levels);
                self.end_entry(levels, start);
                if let Some(top) = levels.last_mut() {
                    top.place = FlowSlot::Start;
                }
            }
            self.put(levels, node);
        }
        self.pos += 1;
        levels.push(Level {
            node,
            seq,
            pair: false,
            place: FlowSlot::Start,
            key: NONE,
            count: 0,
            before: NONE,
            at: start + 1,
            props: NONE,
        });
    }

    /// Puts a node where the innermost collection expects one.
    pub(super) fn put(&mut self, levels: &mut [Level], node: u32) {
        let Some(top) = levels.last_mut() else { return };
        let mut level = *top;
        self.give_props(node, level.props);
        level.props = NONE;
        if level.seq {
            level.before = self.tree.nodes[level.node as usize].last;
            self.append(level.node, node, level.count);
            level.count += 1;
            level.place = FlowSlot::Done;
        } else {
            self.append(level.node, node, level.count);
            match level.place {
                FlowSlot::Value => {
                    self.link_entry(level.key, node);
                    level.count += 1;
                    level.place = FlowSlot::Done;
                }
                _ => {
                    level.key = node;
                    level.place = FlowSlot::KeyDone;
                }
            }
        }
        if let Some(top) = levels.last_mut() {
            *top = level;
        }
    }

    pub(super) fn put_absent(&mut self, levels: &mut [Level]) {
        let Some(top) = levels.last() else { return };
        let absent = self.add_scalar(Style::Absent, top.at, top.at, VERBATIM);
        self.put(levels, absent);
    }

    /// Completes the entry in front of a comma or a closing bracket.
    pub(super) fn end_entry(&mut self, levels: &mut [Level], at: usize) {
        let Some(&top) = levels.last() else { return };
        match top.place {
            FlowSlot::Start if top.props != NONE => {
                self.put_absent(levels);
                self.end_entry_of_key(levels, at);
            }
            FlowSlot::Start => {}
            FlowSlot::Key => {
                self.put_absent(levels);
                self.end_entry_of_key(levels, at);
            }
            FlowSlot::KeyDone => self.end_entry_of_key(levels, at),
            FlowSlot::Value => self.put_absent(levels),
            FlowSlot::Done => {}
        }
    }

    pub(super) fn end_entry_of_key(&mut self, levels: &mut [Level], at: usize) {
        let Some(top) = levels.last_mut() else { return };
        if top.place == FlowSlot::KeyDone {
            top.place = FlowSlot::Value;
            let key_end = self.tree.nodes[top.key as usize].end as usize;
            top.at = key_end.min(at);
            self.put_absent(levels);
        }
    }

    pub(super) fn close_flow(&mut self, levels: &mut Vec<Level>, end: usize) {
        self.end_entry(levels, end);
        if let Some(level) = levels.pop() {
            self.tree.nodes[level.node as usize].end = end as u32;
            if let Some(parent) = levels.last_mut() {
                parent.at = end;
            }
        }
    }

    pub(super) fn close_pairs(&mut self, levels: &mut Vec<Level>) {
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
    pub(super) fn abandon(&mut self, levels: &mut Vec<Level>) {
        let end = self.last_content();
        while !levels.is_empty() {
            self.close_pairs(levels);
            self.close_flow(levels, end);
        }
    }

    /// The end of the last text in front of the position.
    pub(super) fn last_content(&self) -> usize {
        let mut end = self.pos.min(self.bytes.len());
        while end > 0 && scan::is_white(self.bytes[end - 1]) {
            end -= 1;
        }
        end
    }

    pub(super) fn is_flow_colon(&self, levels: &[Level], at: usize) -> bool {
        if self.ends_sign(at + 1) {
            return true;
        }
        let Some(top) = levels.last() else { return false };
        let before = match top.place {
            FlowSlot::KeyDone => top.key,
            FlowSlot::Done if top.seq => self.tree.nodes[top.node as usize].last,
            _ => return false,
        };
        let Some(node) = self.tree.nodes.get(before as usize) else { return false };
        let quoted = matches!(node.style, Style::SingleQuoted | Style::DoubleQuoted);
        quoted || (node.flags & FLOW != 0 && node.kind != Kind::Scalar)
    }

    /// Handles `:`. False if it cannot stand here.
    pub(super) fn flow_colon(&mut self, levels: &mut Vec<Level>, at: usize) -> bool {
        let Some(&top) = levels.last() else { return false };
        match top.place {
            FlowSlot::Start if top.seq => {
                self.open_pair(levels, at);
                self.put_absent(levels);
            }
            FlowSlot::Done if top.seq => self.item_to_pair(levels),
            FlowSlot::Start | FlowSlot::Key => self.put_absent(levels),
            FlowSlot::KeyDone => {}
            FlowSlot::Done | FlowSlot::Value => {
                // `a: b: c`, or the lines of a block mapping.
                return false;
            }
        }
        self.pos = at + 1;
        if let Some(top) = levels.last_mut() {
            top.place = FlowSlot::Value;
            top.at = at + 1;
        }
        true
    }

    pub(super) fn open_pair(&mut self, levels: &mut Vec<Level>, start: usize) {
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
            place: FlowSlot::Start,
            key: NONE,
            count: 0,
            before: NONE,
            at: start,
            props,
        });
    }

    /// Makes the last item of a sequence the key of a pair.
    pub(super) fn item_to_pair(&mut self, levels: &mut Vec<Level>) {
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
}
