//! Aliases and merge keys replaced by what they stand for.

use llsd_yaml::{Kind, Node, Resolved, Rules};
use std::collections::{HashMap, HashSet};

/// Greatest depth of a tree, counted in collections. Deeper parts are left out.
const MAX_DEPTH: usize = 128;
/// Greatest number of entries of a mapping that is looked through without a table.
const SMALL: usize = 16;
/// Greatest number of nodes that aliases may add, over those that are written.
const ALIAS_BUDGET: usize = 50_000;

/// A node with its aliases and merge keys resolved.
pub(crate) struct Tree<'d> {
    /// The node that holds the value: for an alias the anchored one.
    pub(crate) node: Node<'d>,
    pub(crate) shape: Shape<'d>,
}

/// The shapes of a [`Tree`].
pub(crate) enum Shape<'d> {
    /// A scalar: see the node.
    Scalar,
    /// The items of a list, with merge keys and aliases resolved.
    List(Vec<Tree<'d>>),
    /// Entries in order, each key once.
    Map(Vec<Entry<'d>>),
    /// Left out: too deep or too many.
    Exceeded,
    /// An alias that leads nowhere, which is an error of the text.
    Dangling,
}

/// An entry of a mapping.
pub(crate) struct Entry<'d> {
    /// The key as a string.
    pub(crate) key: String,
    /// The last value that it has.
    pub(crate) value: Tree<'d>,
    /// Whether the mapping itself has the key more than once.
    pub(crate) twice: bool,
}

/// Expands the tree below `root`.
pub(crate) fn expand(root: Node<'_>) -> Tree<'_> {
    let mut anchors: HashMap<&str, Vec<Node<'_>>> = HashMap::new();
    let mut has_alias = false;
    for node in root.document().nodes() {
        if let Some(name) = node.anchor() {
            anchors.entry(name).or_default().push(node);
        }
        has_alias |= node.kind() == Kind::Alias;
    }
    if !has_alias {
        anchors.clear();
    }
    let broken = root.document().errors().iter().map(|error| error.span.start).collect();
    Expander { anchors, broken, budget: ALIAS_BUDGET, inside_alias: 0, depth: 0 }.tree(root)
}

/// The string that a key becomes: truth values and numbers in their JSON spelling, anything else as written.
fn text_of_key(key: Node<'_>) -> String {
    match key.resolve(Rules::Kubernetes) {
        Resolved::Bool(flag) => flag.to_string(),
        Resolved::Int(number) => number.to_string(),
        _ => key.key_text().into_owned(),
    }
}

struct Expander<'d> {
    anchors: HashMap<&'d str, Vec<Node<'d>>>,
    /// Offsets in bytes at which syntax errors begin.
    broken: HashSet<usize>,
    budget: usize,
    inside_alias: usize,
    depth: usize,
}

impl<'d> Expander<'d> {
    fn tree(&mut self, node: Node<'d>) -> Tree<'d> {
        if self.inside_alias > 0 {
            match self.budget.checked_sub(1) {
                Some(rest) => self.budget = rest,
                None => return Tree { node, shape: Shape::Exceeded },
            }
        }
        if self.depth >= MAX_DEPTH {
            return Tree { node, shape: Shape::Exceeded };
        }
        self.depth += 1;
        let tree = match node.kind() {
            Kind::Scalar => Tree { node, shape: Shape::Scalar },
            Kind::Sequence => Tree { node, shape: Shape::List(node.items().map(|item| self.tree(item)).collect()) },
            Kind::Mapping => Tree { node, shape: Shape::Map(self.entries(node)) },
            Kind::Alias => self.aliased(node),
        };
        self.depth -= 1;
        tree
    }

    /// The last node anchored by this name before the alias. An alias inside its own anchor is cut off by the depth
    /// and the budget.
    fn target(&self, alias: Node<'d>) -> Option<Node<'d>> {
        let start = alias.span().start;
        let anchored = self.anchors.get(alias.value().as_ref())?;
        anchored.iter().rev().find(|node| node.span().start < start && !holds(**node, alias)).copied()
    }

    fn aliased(&mut self, alias: Node<'d>) -> Tree<'d> {
        let Some(target) = self.target(alias) else { return Tree { node: alias, shape: Shape::Dangling } };
        self.inside_alias += 1;
        let tree = self.tree(target);
        self.inside_alias -= 1;
        tree
    }

    fn entries(&mut self, mapping: Node<'d>) -> Vec<Entry<'d>> {
        let mut entries: Vec<Entry<'d>> = Vec::new();
        let mut places = Places::default();
        let mut merged: Vec<Tree<'d>> = Vec::new();
        for entry in mapping.entries() {
            if entry.key.source() == "<<" {
                merged.push(self.tree(entry.value));
                continue;
            }
            // A key without colon and value is still being typed: it is no entry yet, and displaces none.
            if entry.value.is_absent() && self.broken.contains(&entry.key.span().start) {
                continue;
            }
            let key = text_of_key(entry.key);
            let value = self.tree(entry.value);
            match places.of(&entries, &key) {
                Some(place) => entries[place] = Entry { key, value, twice: true },
                None => entries.push(Entry { key, value, twice: false }),
            }
        }
        for tree in merged {
            let sources = match tree.shape {
                Shape::List(items) => items,
                _ => vec![tree],
            };
            for entry in sources.into_iter().flat_map(Tree::into_entries) {
                if places.of(&entries, &entry.key).is_none() {
                    entries.push(Entry { twice: false, ..entry });
                }
            }
        }
        entries
    }
}

/// Finds the entry that has a key. Most mappings are so small that looking through them costs less than a table.
#[derive(Default)]
struct Places {
    /// The first entries of a large mapping, by key.
    table: HashMap<String, usize>,
}

impl Places {
    /// `entries`: those so far, to which entries are added and whose keys stay.
    fn of(&mut self, entries: &[Entry<'_>], key: &str) -> Option<usize> {
        if entries.len() <= SMALL {
            return entries.iter().position(|entry| entry.key == key);
        }
        let known = self.table.len();
        let others = entries.iter().enumerate().skip(known);
        self.table.extend(others.map(|(place, entry)| (entry.key.clone(), place)));
        self.table.get(key).copied()
    }
}

impl<'d> Tree<'d> {
    fn into_entries(self) -> Vec<Entry<'d>> {
        match self.shape {
            Shape::Map(entries) => entries,
            _ => Vec::new(),
        }
    }
}

fn holds(outer: Node<'_>, inner: Node<'_>) -> bool {
    let (outer, inner) = (outer.span(), inner.span());
    outer.start <= inner.start && inner.end <= outer.end
}
