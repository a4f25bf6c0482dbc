//! How likely it is that somebody meant what a reading says.

use std::collections::HashSet;

use super::Reading;
use crate::tree::{FLOW, Kind, NONE, NodeData, RAW, Style};

// Weights, and the prices of changes in `repair`, were found by descent on half of the texts that recovery is measured
// on; only their relations mean something.

/// A line with an error.
const ERROR: i32 = 6;
/// A further error of the same line.
const SAME_LINE: i32 = 2;
/// A mapping that is not indented like the others.
const ODD_MAPPING: i32 = 3;
/// A sequence that stands neither at its key's column nor one step to the right.
const ODD_SEQUENCE: i32 = 5;
/// An item whose column is not that behind its dash.
const ODD_ITEM: i32 = 4;
/// Two entries of one name.
const DUPLICATE: i32 = 16;
/// A key with signs that names do not have.
const ODD_KEY: i32 = 10;
/// A text that was read as it stands, for want of better.
const RAW_TEXT: i32 = 2;
/// A key or item without value.
const ABSENT: i32 = 8;
/// A sequence of mappings and others.
const MIXED: i32 = 5;

/// What speaks against a reading of `bytes`. The less, the better.
pub(super) fn doubt(bytes: &[u8], reading: &Reading, step: i32) -> i32 {
    let mut sum = 0;
    let mut places: Vec<usize> = reading.errors.iter().map(|e| e.span.start.min(bytes.len())).collect();
    places.sort_unstable();
    let mut last = None;
    for at in places {
        let same = last.is_some_and(|last: usize| memchr::memchr(b'\n', &bytes[last..at]).is_none());
        sum += if same { SAME_LINE } else { ERROR };
        last = Some(at);
    }
    let nodes = &reading.tree.nodes;
    let mut keys: HashSet<(u32, &[u8])> = HashSet::with_capacity(nodes.len() / 2);
    for (id, node) in nodes.iter().enumerate() {
        if node.parent == NONE && reading.tree.root != Some(id as u32) {
            continue;
        }
        let parent = nodes.get(node.parent as usize);
        // A key's next sibling is its value.
        let is_key = node.mate != NONE && node.next == node.mate;
        match node.kind {
            Kind::Mapping | Kind::Sequence if node.flags & FLOW == 0 => {
                sum += shape(nodes, node, parent, step);
            }
            Kind::Scalar => {
                let text = bytes.get(node.start as usize..node.end as usize).unwrap_or_default();
                if is_key {
                    if !keys.insert((node.parent, text)) {
                        sum += DUPLICATE;
                    }
                    if node.style == Style::Plain {
                        sum += odd_key(text);
                    }
                } else if node.style == Style::Absent {
                    sum += ABSENT;
                } else if node.style == Style::Plain && node.flags & RAW != 0 {
                    sum += RAW_TEXT;
                }
            }
            _ => {}
        }
    }
    sum
}

fn shape(nodes: &[NodeData], node: &NodeData, parent: Option<&NodeData>, step: i32) -> i32 {
    let Some(parent) = parent else { return if node.indent == 0 { 0 } else { ODD_MAPPING } };
    let deeper = node.indent as i32 - parent.indent as i32;
    let mut sum = match (parent.kind, node.kind) {
        (Kind::Mapping, Kind::Mapping) if deeper != step => ODD_MAPPING,
        (Kind::Mapping, Kind::Sequence) if deeper != step && deeper != 0 => ODD_SEQUENCE,
        (Kind::Sequence, _) if deeper != 2 => ODD_ITEM,
        _ => 0,
    };
    if node.kind == Kind::Sequence {
        let (mut maps, mut others, mut at) = (0, 0, node.first);
        while let Some(item) = nodes.get(at as usize) {
            if item.kind == Kind::Mapping {
                maps += 1;
            } else {
                others += 1;
            }
            at = item.next;
        }
        if maps > 0 && others > 0 {
            sum += MIXED;
        }
    }
    sum
}

fn odd_key(text: &[u8]) -> i32 {
    let name = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'/');
    let fine = text.iter().all(name) && !text.first().is_some_and(|b| matches!(b, b'-' | b'.'));
    if fine { 0 } else { ODD_KEY }
}
