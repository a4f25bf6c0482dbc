//! How likely it is that somebody meant what a reading says.

use std::collections::HashSet;

use super::{Reading, line};
use crate::tree::{FLOW, Kind, NONE, NodeData, RAW, Style};
use crate::work;

// Only the relations of the weights, and of the prices in `changes`, mean something: an error is 6, what is odd but
// allowed is half of that or a little less than an error, and what hardly anybody writes is two errors or more.

/// A line with an error.
const ERROR: i32 = 6;
/// A further error of the same line: mostly a consequence of the first.
const SAME_LINE: i32 = 2;
/// A mapping that is not indented like the others: half an error, people do write it.
const ODD_MAPPING: i32 = 3;
/// A sequence that stands neither at its key's column nor one step to the right: nearly an error, hardly anybody does.
const ODD_SEQUENCE: i32 = 5;
/// An item whose column is not that behind its dash, as rare.
const ODD_ITEM: i32 = 5;
/// Two entries of one name: worse than any two errors, and than to leave out one of the two lines.
const DUPLICATE: i32 = 16;
/// A key with signs that names do not have: two errors.
const ODD_KEY: i32 = 12;
/// A text that was read as it stands, for want of better: it comes with an error already.
const RAW_TEXT: i32 = 2;
/// A key or item without value: like a line that is left out, which is what it often stands for.
const ABSENT: i32 = 8;
/// A sequence of mappings and others: nearly an error.
const MIXED: i32 = 5;
/// A list that is indented although lists of this text are not, or the other way round: half an error, like any
/// other habit.
const OTHER_LIST: i32 = 3;
/// An item of a list of mappings that does not start with the key that most of them start with: half an error.
const OTHER_FIRST_KEY: i32 = 3;
/// A key without a colon and without a value: being typed, and with an error already.
const HALF_KEY: i32 = 2;

/// How a text is usually written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Habits {
    /// Columns by which it indents.
    pub(super) step: i32,
    /// Whether dashes stand at the column of their key, if it does so mostly.
    compact: Option<bool>,
}

impl Habits {
    pub(super) fn of(bytes: &[u8]) -> Habits {
        Habits { step: line::usual_step(bytes).max(2), compact: line::compact_lists(bytes) }
    }
}

/// With how many errors a reading can be in no more than this doubt.
pub(super) fn most_errors(doubt: i32) -> usize {
    usize::try_from((doubt - ERROR + SAME_LINE) / SAME_LINE).unwrap_or(0)
}

/// What speaks against a reading of `bytes`. The less, the better.
pub(super) fn doubt(bytes: &[u8], reading: &Reading, habits: Habits) -> i32 {
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
    work::count(nodes.len());
    let mut keys: HashSet<(u32, &[u8])> = HashSet::with_capacity(nodes.len() / 2);
    for (id, node) in nodes.iter().enumerate() {
        if node.parent == NONE && reading.tree.root != Some(id as u32) {
            continue;
        }
        let parent = nodes.get(node.parent as usize);
        // A key's next sibling is its value.
        let is_key = node.counterpart != NONE && node.next == node.counterpart;
        match node.kind {
            Kind::Mapping | Kind::Sequence if node.flags & FLOW == 0 => {
                sum += shape(bytes, nodes, node, parent, habits);
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
                    let half = nodes.get(node.counterpart as usize).is_some_and(|key| key.flags & RAW != 0);
                    sum += if half { HALF_KEY } else { ABSENT };
                } else if node.style == Style::Plain && node.flags & RAW != 0 {
                    sum += RAW_TEXT;
                }
            }
            _ => {}
        }
    }
    sum
}

fn shape(bytes: &[u8], nodes: &[NodeData], node: &NodeData, parent: Option<&NodeData>, habits: Habits) -> i32 {
    let items = if node.kind == Kind::Sequence { items(bytes, nodes, node) } else { 0 };
    let Some(parent) = parent else { return items + if node.indent == 0 { 0 } else { ODD_MAPPING } };
    let step = habits.step;
    let deeper = node.indent as i32 - parent.indent as i32;
    items
        + match (parent.kind, node.kind) {
            (Kind::Mapping, Kind::Mapping) if deeper != step => ODD_MAPPING,
            (Kind::Mapping, Kind::Sequence) if deeper != step && deeper != 0 => ODD_SEQUENCE,
            (Kind::Mapping, Kind::Sequence) if habits.compact.is_some_and(|c| c != (deeper == 0)) => OTHER_LIST,
            (Kind::Sequence, _) if deeper != 2 => ODD_ITEM,
            _ => 0,
        }
}

/// What speaks against the items of a sequence.
fn items(bytes: &[u8], nodes: &[NodeData], list: &NodeData) -> i32 {
    let first_key = |item: &NodeData| {
        let key = nodes.get(item.first as usize)?;
        bytes.get(key.start as usize..key.end as usize)
    };
    // The key that more than half of the mappings start with, if there is one, by majority vote.
    let (mut maps, mut others) = (0, 0);
    let (mut usual, mut votes): (Option<&[u8]>, usize) = (None, 0);
    let each = |mut at: u32| {
        std::iter::from_fn(move || {
            let item = nodes.get(at as usize)?;
            at = item.next;
            Some(item)
        })
    };
    for item in each(list.first) {
        if item.kind != Kind::Mapping {
            others += 1;
            continue;
        }
        maps += 1;
        let key = first_key(item);
        if votes == 0 {
            (usual, votes) = (key, 1);
        } else if key == usual {
            votes += 1;
        } else {
            votes -= 1;
        }
    }
    let mut sum = if maps > 0 && others > 0 { MIXED } else { 0 };
    if maps > 2 {
        let same = each(list.first).filter(|item| item.kind == Kind::Mapping && first_key(item) == usual).count();
        if 2 * same > maps {
            sum += OTHER_FIRST_KEY * (maps - same) as i32;
        }
    }
    sum
}

fn odd_key(text: &[u8]) -> i32 {
    let name = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'/');
    let fine = text.iter().all(name) && !text.first().is_some_and(|b| matches!(b, b'-' | b'.'));
    if fine { 0 } else { ODD_KEY }
}
