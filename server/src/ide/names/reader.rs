//! Reading a tree as it is meant: aliases and merge keys followed, names told from other text.

use super::{Form, Occurrence, Role, Symbol};
use llsd_yaml::{Document, Kind, Node, Span};
use std::borrow::Cow;
use std::collections::HashMap;

/// How many merge keys `<<` are followed one after the other: people write one, and broken text may lead in a circle.
const HOPS: usize = 16;

/// A tree with its anchors.
pub(super) struct Reader<'d> {
    anchors: HashMap<&'d str, Vec<Node<'d>>>,
}

/// A name as it is written.
pub(super) struct Written<'d> {
    /// The name after escapes are decoded.
    pub(super) name: Cow<'d, str>,
    /// Its place, without quotes where that is possible.
    pub(super) span: Span,
    /// How it is written.
    pub(super) form: Form,
}

impl<'d> Reader<'d> {
    pub(super) fn new(tree: &'d Document) -> Self {
        let mut anchors: HashMap<&str, Vec<Node<'_>>> = HashMap::new();
        if tree.text().contains('*') {
            for node in tree.nodes() {
                if let Some(name) = node.anchor() {
                    anchors.entry(name).or_default().push(node);
                }
            }
        }
        Self { anchors }
    }

    /// The node that an alias stands for; any other node itself. `None` for an alias that leads nowhere.
    pub(super) fn real(&self, mut node: Node<'d>) -> Option<Node<'d>> {
        for _ in 0..HOPS {
            if node.kind() != Kind::Alias {
                return Some(node);
            }
            let start = node.span().start;
            let anchored = self.anchors.get(node.value().as_ref())?;
            node = anchored.iter().rev().find(|anchored| anchored.span().start < start).copied()?;
        }
        None
    }

    /// The value of a field: of the mapping itself, else of what it merges. It may be an alias.
    pub(super) fn get(&self, mapping: Node<'d>, field: &str) -> Option<Node<'d>> {
        let mut mapping = self.real(mapping)?;
        for _ in 0..HOPS {
            if let Some(value) = mapping.get(field) {
                return Some(value);
            }
            mapping = self.real(mapping.get("<<")?)?;
        }
        None
    }

    /// The value that `fields` lead to.
    pub(super) fn at(&self, mapping: Node<'d>, fields: &[&str]) -> Option<Node<'d>> {
        fields.iter().try_fold(mapping, |node, field| self.get(node, field))
    }

    /// The items of a list, each followed to where it is written.
    pub(super) fn items(&self, list: Node<'d>) -> Vec<Node<'d>> {
        let items = self.real(list).into_iter().flat_map(|list| list.items());
        items.filter_map(|item| self.real(item)).collect()
    }

    /// The entries of a mapping, its own only.
    pub(super) fn entries(&self, mapping: Node<'d>) -> Vec<llsd_yaml::Entry<'d>> {
        self.real(mapping).into_iter().flat_map(|mapping| mapping.entries()).collect()
    }

    /// The text of a field; empty where there is none.
    pub(super) fn text(&self, mapping: Node<'d>, fields: &[&str]) -> Cow<'d, str> {
        let found = self.at(mapping, fields).and_then(|node| self.real(node));
        found.map(|node| node.value()).unwrap_or_default()
    }

    /// The name that a node holds. `None` where it holds none: nothing is written, or a template.
    pub(super) fn name(&self, node: Node<'d>) -> Option<Written<'d>> {
        if node.kind() == Kind::Alias {
            let name = self.name(self.real(node)?)?.name;
            return Some(Written { name, span: node.span(), form: Form::Alias });
        }
        if !node.is_scalar() || node.is_absent() || node.block().is_some() {
            return None;
        }
        let name = node.value();
        if !is_name(&name) {
            return None;
        }
        let whole = node.span();
        let source = node.source();
        let span = if source == name {
            whole
        } else {
            let inner = source.get(1..source.len().saturating_sub(1));
            if inner == Some(&*name) { Span::new(whole.start + 1, whole.end - 1) } else { whole }
        };
        Some(Written { name, span, form: Form::Scalar { whole } })
    }

    /// Notes the name that a node holds.
    pub(super) fn note(
        &self,
        node: Node<'d>,
        scope: Option<usize>,
        role: Role,
        symbol: impl FnOnce(String) -> Symbol,
        out: &mut Vec<Occurrence>,
    ) {
        if let Some(written) = self.name(node) {
            let symbol = symbol(written.name.into_owned());
            out.push(Occurrence { symbol, scope, span: written.span, role, form: written.form });
        }
    }

    /// Notes the name that a field holds.
    pub(super) fn note_field(
        &self,
        mapping: Node<'d>,
        field: &str,
        scope: Option<usize>,
        role: Role,
        symbol: impl FnOnce(String) -> Symbol,
        out: &mut Vec<Occurrence>,
    ) {
        if let Some(node) = self.get(mapping, field) {
            self.note(node, scope, role, symbol, out);
        }
    }

    /// Notes each `${env.NAME}` at or below `node`.
    pub(super) fn note_variables(&self, node: Node<'d>, scope: usize, out: &mut Vec<Occurrence>) {
        let mut open = vec![node];
        while let Some(node) = open.pop() {
            if node.is_scalar() {
                variables(node.source(), node.span().start, scope, out);
            }
            open.extend(node.children());
        }
    }
}

/// Whether a text may be a name: one line, and nothing that a template or the reader fills in.
fn is_name(text: &str) -> bool {
    !text.trim().is_empty() && !text.contains(['{', '}', '<', '>', '$', '\n', '\r', '\t'])
}

/// The variables of `${env.NAME…}` in a text that starts at `start`.
fn variables(text: &str, start: usize, scope: usize, out: &mut Vec<Occurrence>) {
    const OPEN: &str = "${env.";
    for (at, _) in text.match_indices(OPEN) {
        let from = at + OPEN.len();
        let rest = &text[from..];
        let end = rest.find(|char: char| !(char.is_ascii_uppercase() || char.is_ascii_digit() || char == '_'));
        let length = end.unwrap_or(rest.len());
        if length > 0 && rest[length..].starts_with(['}', ':']) {
            out.push(Occurrence {
                symbol: Symbol::Variable(rest[..length].to_owned()),
                scope: Some(scope),
                span: Span::new(start + from, start + from + length),
                role: Role::Reference,
                form: Form::Part,
            });
        }
    }
}
