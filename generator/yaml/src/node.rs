//! Reading the tree: nodes, their children, keys and values, and paths.

use std::borrow::Cow;

use crate::tree::{FLOW, NONE, NodeData, UNCLOSED, VERBATIM};
use crate::wide::{NARROW, Wide};
use crate::{BlockScalar, Document, Kind, Span, Style, decode};

/// One step of a path through the tree.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Step {
    /// The value of the mapping entry with this key (the decoded text; the source text of a key that is a collection).
    Key(String),
    /// The item of a sequence, from 0.
    Index(usize),
}

/// A node of a document. Cheap to copy.
#[derive(Clone, Copy)]
pub struct Node<'d> {
    pub(crate) doc: &'d Document,
    pub(crate) id: u32,
}

/// One entry of a mapping.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'d> {
    /// The key, of any kind: a scalar nearly always.
    pub key: Node<'d>,
    /// The value; of style [`Style::Absent`] where nothing is written.
    pub value: Node<'d>,
    /// From the key's start to the value's end, properties included.
    pub span: Span,
}

impl std::fmt::Debug for Node<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let span = self.span();
        write!(f, "{:?}@{}..{}", self.kind(), span.start, span.end)
    }
}

impl PartialEq for Node<'_> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.doc, other.doc) && self.id == other.id
    }
}

impl Eq for Node<'_> {}

impl<'d> Node<'d> {
    pub(crate) fn data(&self) -> &'d NodeData {
        &self.doc.tree.nodes[self.id as usize]
    }

    fn wide(&self) -> &'d Wide {
        self.doc.wide.get_or_init(|| Wide::new(self.doc))
    }

    fn at(&self, id: u32) -> Option<Node<'d>> {
        (id != NONE).then_some(Node { doc: self.doc, id })
    }

    /// The document the node belongs to.
    pub fn document(&self) -> &'d Document {
        self.doc
    }

    /// Mapping, sequence, scalar or alias. What a scalar stands for is told by [`Node::resolve`].
    pub fn kind(&self) -> Kind {
        self.data().kind
    }

    /// How a scalar is written; [`Style::Plain`] for other nodes.
    pub fn style(&self) -> Style {
        self.data().style
    }

    /// Whether the node is a mapping.
    pub fn is_mapping(&self) -> bool {
        self.kind() == Kind::Mapping
    }

    /// Whether the node is a sequence.
    pub fn is_sequence(&self) -> bool {
        self.kind() == Kind::Sequence
    }

    /// Whether the node is a scalar.
    pub fn is_scalar(&self) -> bool {
        self.kind() == Kind::Scalar
    }

    /// Whether nothing is written for this node.
    pub fn is_absent(&self) -> bool {
        self.is_scalar() && self.style() == Style::Absent
    }

    /// Where the node stands: quotes, brackets and a block scalar's header included, anchor, tag and comments not.
    /// A block scalar ends with its last line that is not empty.
    pub fn span(&self) -> Span {
        Span::new(self.data().start as usize, self.data().end as usize)
    }

    /// [`Node::span`] with anchor and tag.
    pub fn full_span(&self) -> Span {
        let span = self.span();
        match self.props().and_then(|p| p.span()) {
            Some(p) => Span::new(span.start.min(p.start), span.end.max(p.end)),
            None => span,
        }
    }

    /// The source text of [`Node::span`], quotes and brackets included.
    pub fn source(&self) -> &'d str {
        self.span().slice(&self.doc.text)
    }

    /// The collection this node is a key, value or item of.
    pub fn parent(&self) -> Option<Node<'d>> {
        self.at(self.data().parent)
    }

    /// Whether the node is the key of a mapping entry.
    pub fn is_key(&self) -> bool {
        let data = self.data();
        self.parent().is_some_and(|p| p.is_mapping()) && (data.counterpart == NONE || data.counterpart == data.next)
    }

    /// The key of the entry this node is the value of.
    pub fn key(&self) -> Option<Node<'d>> {
        if self.is_key() || !self.parent()?.is_mapping() {
            return None;
        }
        self.at(self.data().counterpart)
    }

    /// The entry this node is the key or the value of.
    pub fn entry(&self) -> Option<Entry<'d>> {
        if !self.parent()?.is_mapping() {
            return None;
        }
        let counterpart = self.at(self.data().counterpart)?;
        Some(if self.is_key() { entry(*self, counterpart) } else { entry(counterpart, *self) })
    }

    /// Steps from the root to the node. A key has the path of its value.
    pub fn path(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        let mut node = *self;
        while let Some(parent) = node.parent() {
            steps.push(match parent.kind() {
                Kind::Sequence => Step::Index(node.data().ordinal as usize),
                _ => Step::Key(node.key().unwrap_or(node).key_text().into_owned()),
            });
            node = parent;
        }
        steps.reverse();
        steps
    }

    /// Number of the item or entry in its parent, from 0.
    pub fn ordinal(&self) -> usize {
        self.data().ordinal as usize
    }

    /// The text that names this node when it is a key: the decoded scalar, or the source of anything else.
    pub fn key_text(&self) -> Cow<'d, str> {
        match self.kind() {
            Kind::Scalar => self.value(),
            _ => Cow::Borrowed(self.source()),
        }
    }

    /// The direct children in order; those of a mapping alternate between key and value.
    pub fn children(&self) -> Items<'d> {
        let first = if matches!(self.kind(), Kind::Mapping | Kind::Sequence) { self.data().first } else { NONE };
        Items { doc: self.doc, next: first }
    }

    /// Entries of a mapping in order; none for other nodes.
    pub fn entries(&self) -> Entries<'d> {
        let first = if self.is_mapping() { self.data().first } else { NONE };
        Entries(Items { doc: self.doc, next: first })
    }

    /// Items of a sequence in order; none for other nodes.
    pub fn items(&self) -> Items<'d> {
        let first = if self.is_sequence() { self.data().first } else { NONE };
        Items { doc: self.doc, next: first }
    }

    /// The value of the first entry with this key.
    pub fn get(&self, key: &str) -> Option<Node<'d>> {
        self.get_entry(key).map(|e| e.value)
    }

    /// The first entry with this key.
    pub fn get_entry(&self, key: &str) -> Option<Entry<'d>> {
        let mut entries = self.entries();
        if let Some(found) = entries.by_ref().take(NARROW).find(|e| e.key.key_text() == key) {
            return Some(found);
        }
        let rest = entries.0.next;
        if rest == NONE { None } else { self.at(self.wide().key(*self, key)?)?.entry() }
    }

    /// The item of a sequence, from 0.
    pub fn item(&self, index: usize) -> Option<Node<'d>> {
        if index < NARROW { self.items().nth(index) } else { self.at(self.wide().item(*self, index)?) }
    }

    /// The decoded text of a scalar: quotes and escapes resolved, lines folded. Empty for an absent one; the name of
    /// an alias; empty for a collection.
    pub fn value(&self) -> Cow<'d, str> {
        match self.kind() {
            Kind::Scalar if self.data().flags & VERBATIM != 0 => Cow::Borrowed(self.source()),
            Kind::Scalar => decode::scalar(&self.doc.text, self.data()),
            Kind::Alias => Cow::Borrowed(self.source().trim_start_matches('*')),
            _ => Cow::Borrowed(""),
        }
    }

    /// The name of the anchor `&name`, without the sign.
    pub fn anchor(&self) -> Option<&'d str> {
        let span = self.props()?.anchor?;
        span.slice(&self.doc.text).strip_prefix('&')
    }

    /// The tag as written, with its `!`.
    pub fn tag(&self) -> Option<&'d str> {
        Some(self.props()?.tag?.slice(&self.doc.text))
    }

    fn props(&self) -> Option<&'d crate::tree::Props> {
        self.doc.tree.props.get(self.data().props as usize)
    }

    /// Whether the node is a collection written with brackets or braces.
    pub fn is_flow(&self) -> bool {
        self.data().flags & FLOW != 0
    }

    /// Whether the closing quote of this scalar or the closing bracket of this collection is missing.
    pub fn is_unclosed(&self) -> bool {
        self.data().flags & UNCLOSED != 0
    }

    /// Column of a block collection's keys or dashes, in bytes from the start of the line; 0 for other nodes.
    pub fn indent(&self) -> usize {
        match self.kind() {
            Kind::Mapping | Kind::Sequence if !self.is_flow() => self.data().indent as usize,
            _ => 0,
        }
    }

    /// Header, content and offset map of a literal or folded scalar; `None` for other nodes.
    pub fn block(&self) -> Option<BlockScalar> {
        matches!(self.style(), Style::Literal | Style::Folded).then(|| BlockScalar::of(&self.doc.text, self.data()))
    }

    pub(crate) fn is_reachable(&self) -> bool {
        self.data().parent != NONE || self.doc.tree.root == Some(self.id)
    }
}

pub(crate) fn step_of<'d>(node: Node<'d>, step: &Step) -> Option<Node<'d>> {
    match step {
        Step::Key(key) => node.get(key),
        Step::Index(index) => node.item(*index),
    }
}

fn entry<'d>(key: Node<'d>, value: Node<'d>) -> Entry<'d> {
    let (k, v) = (key.full_span(), value.full_span());
    Entry { key, value, span: Span::new(k.start, v.end.max(k.end)) }
}

/// Iterator over the direct children of a node.
#[derive(Clone)]
pub struct Items<'d> {
    doc: &'d Document,
    next: u32,
}

impl<'d> Iterator for Items<'d> {
    type Item = Node<'d>;

    fn next(&mut self) -> Option<Node<'d>> {
        if self.next == NONE {
            return None;
        }
        let node = Node { doc: self.doc, id: self.next };
        self.next = node.data().next;
        Some(node)
    }
}

/// Iterator over the entries of a mapping.
#[derive(Clone)]
pub struct Entries<'d>(Items<'d>);

impl<'d> Iterator for Entries<'d> {
    type Item = Entry<'d>;

    fn next(&mut self) -> Option<Entry<'d>> {
        let key = self.0.next()?;
        let value = self.0.next()?;
        Some(entry(key, value))
    }
}
