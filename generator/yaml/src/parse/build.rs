//! Building the tree: nodes, their places, and the stack of open block collections.

use super::{Container, Frame, Parser, Slot};
use crate::tree::{FLOW, Kind, NONE, NodeData, Props, Style, VERBATIM};
use crate::work;

impl Parser<'_> {
    pub(super) fn add_node(&mut self, node: NodeData) -> u32 {
        self.tree.nodes.push(node);
        (self.tree.nodes.len() - 1) as u32
    }

    pub(super) fn add_scalar(&mut self, style: Style, start: usize, end: usize, flags: u8) -> u32 {
        let mut node = NodeData::new(Kind::Scalar, style, start, end);
        node.flags = flags;
        self.add_node(node)
    }

    pub(super) fn add_collection(&mut self, kind: Kind, start: usize, flow: bool) -> u32 {
        let mut node = NodeData::new(kind, Style::Plain, start, start);
        if flow {
            node.flags = FLOW;
        }
        self.add_node(node)
    }

    pub(super) fn add_props(&mut self, props: Props) -> u32 {
        if props.is_empty() {
            return NONE;
        }
        self.tree.props.push(props);
        (self.tree.props.len() - 1) as u32
    }

    /// Gives a node properties; those it already has win.
    pub(super) fn give_props(&mut self, node: u32, props: u32) {
        if props == NONE {
            return;
        }
        let own = self.tree.nodes[node as usize].props;
        if own == NONE {
            self.tree.nodes[node as usize].props = props;
        } else {
            let other = self.tree.props[props as usize];
            let mine = &mut self.tree.props[own as usize];
            mine.anchor = mine.anchor.or(other.anchor);
            mine.tag = mine.tag.or(other.tag);
        }
    }

    pub(super) fn append(&mut self, parent: u32, child: u32, ordinal: u32) {
        let nodes = &mut self.tree.nodes;
        nodes[child as usize].parent = parent;
        nodes[child as usize].ordinal = ordinal;
        let last = nodes[parent as usize].last;
        if last == NONE {
            nodes[parent as usize].first = child;
        } else {
            nodes[last as usize].next = child;
        }
        nodes[parent as usize].last = child;
    }

    pub(super) fn link_entry(&mut self, key: u32, value: u32) {
        self.tree.nodes[key as usize].counterpart = value;
        self.tree.nodes[value as usize].counterpart = key;
    }

    /// Puts a node into the open slot of the innermost block collection.
    pub(super) fn attach(&mut self, child: u32) {
        let last = self.stack.len() - 1;
        let frame = self.stack[last];
        self.give_props(child, frame.props);
        let mut next = frame;
        next.props = NONE;
        match (frame.container, frame.slot) {
            (Container::Root, _) => {
                if self.tree.root.is_none() {
                    self.tree.root = Some(child);
                }
                next.slot = Slot::Closed;
            }
            (Container::Seq, _) => {
                self.append(frame.node, child, frame.count);
                next.count += 1;
                next.slot = Slot::Closed;
            }
            (Container::Map, Slot::Key) => {
                self.append(frame.node, child, frame.count);
                next.key = child;
                next.slot = Slot::KeyDone;
            }
            // Without a key there is no place for a value; the node stays out of the tree.
            (Container::Map, _) if frame.key == NONE => next.slot = Slot::Closed,
            (Container::Map, _) => {
                self.append(frame.node, child, frame.count);
                self.link_entry(frame.key, child);
                next.count += 1;
                next.slot = Slot::Closed;
                next.key = NONE;
            }
        }
        self.stack[last] = next;
    }

    /// Puts absent nodes where the innermost collection still waits for something.
    pub(super) fn fill_absent(&mut self) {
        loop {
            let frame = *self.top();
            match frame.slot {
                Slot::Closed => return,
                Slot::KeyDone => self.top().slot = Slot::Value,
                Slot::Value | Slot::Key => {
                    let at = match self.tree.props.get(frame.props as usize).and_then(|p| p.span()) {
                        Some(span) => span.end,
                        None => frame.at,
                    };
                    let absent = self.add_scalar(Style::Absent, at, at, VERBATIM);
                    self.attach(absent);
                }
            }
        }
    }

    /// Opens a block collection in the open slot.
    pub(super) fn open(&mut self, container: Container, indent: i32, start: usize) {
        let kind = if container == Container::Map { Kind::Mapping } else { Kind::Sequence };
        let node = self.add_collection(kind, start, false);
        self.tree.nodes[node as usize].indent = indent.max(0) as u32;
        self.attach(node);
        self.recently_closed.clear();
        self.stack.push(Frame {
            node,
            container,
            slot: Slot::Closed,
            indent,
            key: NONE,
            count: 0,
            at: start,
            props: NONE,
            floating: false,
        });
        self.tree.depth = self.tree.depth.max(self.stack.len() - 1);
    }

    /// Closes the innermost block collection, which is not the root.
    pub(super) fn pop(&mut self) -> Option<Frame> {
        work::count(1);
        if self.stack.len() <= 1 {
            return None;
        }
        self.fill_absent();
        let frame = self.stack.pop()?;
        let last = self.tree.nodes[frame.node as usize].last;
        if last != NONE {
            let mut end = self.tree.nodes[last as usize].end;
            let props = self.tree.nodes[last as usize].props;
            if let Some(span) = self.tree.props.get(props as usize).and_then(|p| p.span()) {
                end = end.max(span.end as u32);
            }
            let node = &mut self.tree.nodes[frame.node as usize];
            node.end = node.end.max(end);
        } else if frame.container == Container::Seq {
            let node = &mut self.tree.nodes[frame.node as usize];
            node.end = node.end.max(frame.at as u32);
        }
        Some(frame)
    }

    /// Closes the innermost collection and keeps it for a later line that belongs into it.
    pub(super) fn pop_recent(&mut self) {
        if let Some(frame) = self.pop() {
            self.recently_closed.push(frame);
        }
    }
}
