//! The arena the parser fills: plain records that refer to each other by index.

use crate::Span;

/// The index that refers to nothing.
pub(crate) const NONE: u32 = u32::MAX;

/// The kinds of nodes, as YAML 1.2.2 section 3.2.1 has them, and aliases, which stay unresolved.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// Keys with values, in block or flow style.
    Mapping,
    /// Items, in block or flow style.
    Sequence,
    /// A text, also the empty one where nothing is written.
    Scalar,
    /// A reference `*name` to an anchored node.
    Alias,
}

/// How a scalar is written.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Style {
    /// Written without quotes, on one line or several.
    Plain,
    /// In single quotes, where only `''` is an escape.
    SingleQuoted,
    /// In double quotes, with escapes.
    DoubleQuoted,
    /// A block that keeps its line breaks, `|`.
    Literal,
    /// A block that joins its lines, `>`.
    Folded,
    /// Nothing is written behind `key:` or `- `; the span is empty and stands there.
    Absent,
}

/// The node is a flow collection.
pub(crate) const FLOW: u8 = 1;
/// The scalar's value is its source text.
pub(crate) const VERBATIM: u8 = 2;
/// A quoted scalar whose closing quote is missing.
pub(crate) const UNCLOSED: u8 = 4;
/// A plain scalar read as it stands although it starts like something else: a template or a repaired text.
pub(crate) const RAW: u8 = 8;

/// How a block scalar ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Chomp {
    Clip,
    Strip,
    Keep,
}

/// One node. Offsets are bytes of the document's text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NodeData {
    pub(crate) kind: Kind,
    pub(crate) style: Style,
    pub(crate) flags: u8,
    /// How the end of a block scalar is read; without meaning for other nodes.
    pub(crate) chomp: Chomp,
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) parent: u32,
    /// The next child of the same parent; a mapping's children alternate between key and value.
    pub(crate) next: u32,
    /// First child of a collection. For a block scalar: the offset where its content starts.
    pub(crate) first: u32,
    /// Last child of a collection. For a block scalar: the offset where its header ends.
    pub(crate) last: u32,
    /// A key's value and a value's key.
    pub(crate) counterpart: u32,
    /// Number of the entry or item in the parent.
    pub(crate) ordinal: u32,
    /// Index into the tree's properties.
    pub(crate) props: u32,
    /// Column of a block collection's keys or dashes. For a block scalar: columns to strip from each line.
    pub(crate) indent: u32,
}

impl NodeData {
    pub(crate) fn new(kind: Kind, style: Style, start: usize, end: usize) -> NodeData {
        NodeData {
            kind,
            style,
            flags: 0,
            chomp: Chomp::Clip,
            start: start as u32,
            end: end as u32,
            parent: NONE,
            next: NONE,
            first: NONE,
            last: NONE,
            counterpart: NONE,
            ordinal: 0,
            props: NONE,
            indent: 0,
        }
    }
}

/// Anchor and tag of a node.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Props {
    /// Where `&name` stands, its sign included.
    pub(crate) anchor: Option<Span>,
    /// Where `!tag` stands, its sign included.
    pub(crate) tag: Option<Span>,
}

impl Props {
    pub(crate) fn is_empty(&self) -> bool {
        self.anchor.is_none() && self.tag.is_none()
    }

    pub(crate) fn span(&self) -> Option<Span> {
        match (self.anchor, self.tag) {
            (Some(a), Some(t)) => Some(Span::new(a.start.min(t.start), a.end.max(t.end))),
            (a, t) => a.or(t),
        }
    }
}

/// All nodes of a document.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    pub(crate) nodes: Vec<NodeData>,
    pub(crate) props: Vec<Props>,
    pub(crate) root: Option<u32>,
    /// Greatest number of collections open at once.
    pub(crate) depth: usize,
}
