//! Levels and entries that were complete, and are opened again for a line that belongs into them.

use super::{Container, Frame, Parser, Slot};
use crate::Span;
use crate::tree::{NONE, RAW, Style, VERBATIM};

/// The last complete entry of a mapping.
#[derive(Clone, Copy, Debug)]
pub(super) struct LastEntry {
    /// The value is a scalar, but no text block.
    pub(super) scalar: bool,
    /// The value starts on a line below its key.
    pub(super) below_key: bool,
    /// The value is on one line.
    pub(super) one_line: bool,
    /// The value is a list in block style.
    pub(super) list: bool,
}

impl Parser<'_> {
    /// Opens the levels again that lines further left closed, down to the one at this column.
    pub(super) fn reopen(&mut self, column: i32) {
        let low = self.top().indent;
        while let Some(ghost) = self.recently_closed.last().copied() {
            if ghost.indent > column {
                break;
            }
            self.recently_closed.pop();
            if ghost.indent >= low && self.fits_top(&ghost) {
                self.stack.push(Frame { slot: Slot::Closed, props: NONE, ..ghost });
            }
        }
    }

    /// Whether the closed level is a descendant of the innermost open one.
    pub(super) fn fits_top(&mut self, ghost: &Frame) -> bool {
        let top = *self.top();
        top.container == Container::Root || self.tree.nodes[ghost.node as usize].parent == top.node
    }

    /// The last complete entry of the innermost mapping.
    pub(super) fn last_entry(&mut self) -> Option<LastEntry> {
        let top = *self.top();
        if top.container != Container::Map || top.slot != Slot::Closed || top.count == 0 {
            return None;
        }
        let value = self.tree.nodes[top.node as usize].last;
        let data = *self.tree.nodes.get(value as usize)?;
        let key = self.tree.nodes.get(data.counterpart as usize)?;
        let (start, end) = (data.start as usize, (data.end as usize).min(self.bytes.len()));
        let breaks = |from: usize, to: usize| self.bytes[from.min(to)..to].iter().any(|b| matches!(b, b'\n' | b'\r'));
        Some(LastEntry {
            scalar: data.kind == crate::Kind::Scalar && !matches!(data.style, Style::Literal | Style::Folded),
            below_key: breaks(key.end as usize, start),
            one_line: !breaks(start, end),
            list: data.kind == crate::Kind::Sequence && data.flags & crate::tree::FLOW == 0,
        })
    }

    /// The last entry's line holds two entries: `outer:inner: value` or `outer: inner: value`.
    ///
    /// ```text
    /// a:b: x    → a:
    ///   c: 1        c: 1
    ///   d: 2        d: 2
    /// ```
    pub(super) fn glued_entry(&self) -> Option<Span> {
        let value = self.last_value()?;
        let key = self.tree.nodes.get(value.counterpart as usize)?;
        let text = |n: &crate::tree::NodeData| {
            let end = (n.end as usize).min(self.bytes.len());
            &self.bytes[(n.start as usize).min(end)..end]
        };
        let glued = key.style == Style::Plain
            && value.kind == crate::Kind::Scalar
            && value.style == Style::Plain
            && (text(key).contains(&b':') || text(value).windows(2).any(|w| w == b": "));
        if glued { self.last_key() } else { None }
    }

    pub(super) fn last_value(&self) -> Option<&crate::tree::NodeData> {
        let top = self.stack.last()?;
        let last = self.tree.nodes.get(top.node as usize)?.last;
        self.tree.nodes.get(last as usize)
    }

    /// Where the key of the innermost mapping's last entry stands.
    pub(super) fn last_key(&self) -> Option<Span> {
        let key = self.tree.nodes.get(self.last_value()?.counterpart as usize)?;
        Some(Span::new(key.start as usize, key.end as usize))
    }

    /// Two entries on one line were found by the indentation below them: the fault is there, not here.
    pub(super) fn blame(&mut self, key: Option<Span>) {
        if let Some(key) = key
            && let Some(last) = self.errors.last_mut()
        {
            last.span = key;
            last.message = "a second key on one line; put it on a line of its own".to_owned();
        }
    }

    /// Takes back what was read as the value of the last entry, so that the lines below become its value. A mapping of
    /// one line is kept, and moved to the column.
    pub(super) fn reopen_value(&mut self, column: i32) -> bool {
        let Some(entry) = self.last_entry() else { return false };
        if !entry.scalar && !entry.one_line {
            return false;
        }
        let top = *self.top();
        let value = self.tree.nodes[top.node as usize].last;
        let data = self.tree.nodes[value as usize];
        let key = data.counterpart;
        if key == NONE || matches!(data.style, Style::Literal | Style::Folded) {
            return false;
        }
        if let Some(ghost) = self.recently_closed.iter().rev().copied().find(|g| g.node == value)
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
        self.tree.nodes[value as usize].counterpart = NONE;
        self.tree.nodes[key as usize].next = NONE;
        self.tree.nodes[key as usize].counterpart = NONE;
        self.tree.nodes[top.node as usize].last = key;
        self.recently_closed.clear();
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
    pub(super) fn split_last_key(&mut self, column: i32) -> bool {
        let top = *self.top();
        if top.container != Container::Map || top.slot != Slot::Closed || top.count == 0 {
            return false;
        }
        let value = self.tree.nodes[top.node as usize].last;
        let data = self.tree.nodes[value as usize];
        let key = data.counterpart;
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
        self.link_entry(key, map);
        self.append(map, inner, 0);
        self.append(map, value, 0);
        self.link_entry(inner, value);
        self.recently_closed.clear();
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

    /// A key at the column of the dashes, where the list's own key is `outer:inner`: closes the list and makes the line
    /// the neighbour of the inner key.
    pub(super) fn split_above_list(&mut self, column: i32) -> bool {
        let Some(list) = self.stack.last() else { return false };
        let key = self.tree.nodes[list.node as usize].counterpart;
        let Some(data) = self.tree.nodes.get(key as usize).copied() else { return false };
        let span = Span::new(data.start as usize, data.end as usize);
        if data.style != Style::Plain || !self.bytes[span.start..span.end].contains(&b':') {
            return false;
        }
        self.pop_recent();
        self.error(span, "a second key on one line; put it on a line of its own");
        self.split_last_key(column)
    }
}
