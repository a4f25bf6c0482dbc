//! Anchors and tags: read in front of their node, on its line or on one of their own.

use super::scan::{self, is_space};
use super::{Parser, Slot};
use crate::Span;
use crate::tree::{NONE, Props};

impl Parser<'_> {
    /// Keeps properties that stand alone on their line for the node below.
    pub(super) fn defer_props(&mut self, props: u32, start: usize) {
        let top = *self.top();
        if top.slot == Slot::Closed || top.slot == Slot::KeyDone {
            let end = self.pos;
            self.error(Span::new(start, end), "an anchor or tag needs a value behind it");
            return;
        }
        if top.props == NONE {
            self.top().props = props;
        } else {
            let newer = self.tree.props[props as usize];
            let older = &mut self.tree.props[top.props as usize];
            older.anchor = older.anchor.or(newer.anchor);
            older.tag = older.tag.or(newer.tag);
        }
    }

    /// Reads anchors and tags, and the blanks behind them.
    pub(super) fn props(&mut self) -> u32 {
        let mut props = Props::default();
        loop {
            let start = self.pos;
            match self.byte(start) {
                b'&' if props.anchor.is_none() => {
                    self.pos = self.token_end(start + 1);
                    props.anchor = Some(Span::new(start, self.pos));
                }
                b'!' if props.tag.is_none() => {
                    self.pos = if self.byte(start + 1) == b'<' {
                        let end = scan::line_end(self.bytes, start);
                        memchr::memchr(b'>', &self.bytes[start..end]).map_or(end, |i| start + i + 1)
                    } else {
                        self.token_end(start + 1)
                    };
                    props.tag = Some(Span::new(start, self.pos));
                }
                _ => return self.add_props(props),
            }
            let behind = self.byte(self.pos);
            if !is_space(behind) {
                return self.add_props(props);
            }
            self.skip_blanks();
        }
    }

    /// The end of an anchor, alias or tag that continues at `at`.
    pub(super) fn token_end(&self, mut at: usize) -> usize {
        while let Some(&b) = self.bytes.get(at) {
            if scan::is_white(b) || scan::is_flow_sign(b) {
                break;
            }
            at += 1;
        }
        at
    }
}
