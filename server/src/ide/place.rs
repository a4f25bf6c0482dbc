//! From a path inside a resource to a span of the text, and back.

use super::Span;
use llsd_generator::check::finding::Target;
pub(crate) use llsd_generator::document::path_of as path;
use llsd_generator::path::{Path, Segment};
use llsd_yaml::{Document, Node, Resolved, Rules, Step};

/// The steps through the document to `path` of the resource whose root is at `base`.
pub(crate) fn steps(base: &Path, path: &Path) -> Vec<Step> {
    base.segments().iter().chain(path.segments()).map(step).collect()
}

fn step(segment: &Segment) -> Step {
    match segment {
        Segment::Key(name) => Step::Key(name.clone()),
        Segment::Index(position) => Step::Index(*position),
    }
}

/// Where to draw what is said about `steps`. What does not exist is drawn at the key of what should hold it.
pub(crate) fn span(document: &Document, steps: &[Step], target: Target) -> Span {
    let Some((node, taken)) = nearest(document, steps) else { return Span::new(0, 0) };
    if taken < steps.len() {
        return name_span(node);
    }
    match (target, node.key()) {
        (Target::Key, Some(key)) => key.span(),
        _ => value_span(node),
    }
}

/// Where the name of the resource at `base` stands.
pub(crate) fn name_of(document: &Document, base: &Path) -> Span {
    span(document, &steps(base, &Path::parse("metadata.name")), Target::Value)
}

/// Mappings with more entries than this are not searched for a key's second entry: it would cost too much.
const NARROW: usize = 64;

/// The node at the longest part of the path that exists, and how many steps that are. Where a mapping has a key twice
/// the last entry counts, as it does in the value that was judged.
fn nearest<'d>(document: &'d Document, steps: &[Step]) -> Option<(Node<'d>, usize)> {
    let mut node = document.root()?;
    for (taken, step) in steps.iter().enumerate() {
        let next = match step {
            Step::Index(number) => node.item(*number),
            Step::Key(name) => {
                let last = node.entries().take(NARROW).filter(|entry| entry.key.key_text() == *name).last();
                last.map(|entry| entry.value).or_else(|| node.get(name)).or_else(|| by_meaning(node, name))
            }
        };
        match next {
            Some(next) => node = next,
            None => return Some((node, taken)),
        }
    }
    Some((node, steps.len()))
}

/// The value whose key is not spelled like this but read so: `n` is `false` to Kubernetes.
fn by_meaning<'d>(mapping: Node<'d>, name: &str) -> Option<Node<'d>> {
    let reads = |key: Node<'_>| match key.resolve(Rules::Kubernetes) {
        Resolved::Bool(flag) => name == if flag { "true" } else { "false" },
        Resolved::Int(number) => number.to_string() == name,
        _ => false,
    };
    mapping.entries().take(NARROW).find(|entry| reads(entry.key)).map(|entry| entry.value)
}

/// The text that stands for a node which is too large to underline: its key, or the first line of an item.
pub(crate) fn name_span(node: Node<'_>) -> Span {
    if let Some(key) = node.key() {
        return key.span();
    }
    if node.parent().is_none() {
        // the whole resource: its kind says best what is meant
        for field in ["kind", "apiVersion"] {
            if let Some(value) = node.get(field).filter(|value| !value.is_absent()) {
                return first_line(node, value.span());
            }
        }
    }
    match node.entries().next() {
        Some(entry) if !node.is_flow() => first_line(node, entry.span),
        _ => first_line(node, node.span()),
    }
}

fn value_span(node: Node<'_>) -> Span {
    let collection = node.is_mapping() || node.is_sequence();
    if node.is_absent() || (collection && !node.is_flow()) {
        return name_span(node);
    }
    first_line(node, node.span())
}

fn first_line(node: Node<'_>, span: Span) -> Span {
    let text = span.slice(node.document().text());
    let line = text.split(['\n', '\r']).next().unwrap_or_default().trim_end();
    Span::new(span.start, span.start + line.len())
}
