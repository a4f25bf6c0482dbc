//! One document: its text, its tree, and what was found on the way.

use std::sync::OnceLock;

use crate::node::step_of;
use crate::tree::Tree;
use crate::wide::Wide;
use crate::{Kind, Node, Span, Step, strict};

/// A comment, from `#` to the end of its line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Comment {
    /// Where it stands, without the line break.
    pub span: Span,
    /// Whether nothing but blanks stands before it on its line.
    pub own_line: bool,
}

/// Something that makes the text not well-formed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SyntaxError {
    /// The place where a person would look.
    pub span: Span,
    /// One sentence, without a full stop.
    pub message: String,
}

/// Why a line is no part of the tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SkippedKind {
    /// A line that version control left behind: `<<<<<<<`, `|||||||`, `=======` or `>>>>>>>`.
    Conflict,
    /// A line that holds only `{{ … }}`.
    Template,
    /// Lines that stood below a key or dash that is commented out or emptied.
    Orphan,
}

/// A line the parser stepped over, or several that belong together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Skipped {
    /// Without the indentation in front, and the break behind.
    pub span: Span,
    /// The reason, for callers that show or restore such lines.
    pub kind: SkippedKind,
}

/// One document of a file. All offsets are relative to [`Document::text`].
#[derive(Debug)]
pub struct Document {
    pub(crate) text: String,
    pub(crate) tree: Tree,
    pub(crate) comments: Vec<Comment>,
    pub(crate) skipped: Vec<Skipped>,
    pub(crate) errors: Vec<SyntaxError>,
    pub(crate) strict: OnceLock<Option<SyntaxError>>,
    pub(crate) wide: OnceLock<Wide>,
}

impl Document {
    /// The text the document was read from.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The outermost node; `None` if the text holds no document (nothing but blanks and comments).
    pub fn root(&self) -> Option<Node<'_>> {
        self.tree.root.map(|id| Node { doc: self, id })
    }

    /// All comments in the order of the text.
    pub fn comments(&self) -> &[Comment] {
        &self.comments
    }

    /// The comment the offset lies in or directly behind.
    pub fn comment_at(&self, offset: usize) -> Option<Comment> {
        let after = self.comments.partition_point(|c| c.span.start <= offset);
        let comment = *self.comments.get(after.checked_sub(1)?)?;
        comment.span.contains(offset).then_some(comment)
    }

    /// Lines that are no part of the tree, in the order of the text.
    pub fn skipped(&self) -> &[Skipped] {
        &self.skipped
    }

    /// What the tolerant parser stumbled over: one entry per fault, in the order of the text. Empty does not mean
    /// well-formed; [`Document::strict_error`] decides that.
    pub fn errors(&self) -> &[SyntaxError] {
        &self.errors
    }

    /// What yaml-rust2 says against the text, or `None` if it accepts it. Computed once, on the first call. Its
    /// position is that of yaml-rust2, often behind the place that [`Document::errors`] names.
    pub fn strict_error(&self) -> Option<&SyntaxError> {
        self.strict.get_or_init(|| strict::judge(&self.text)).as_ref()
    }

    /// Greatest number of collections open inside each other.
    pub fn depth(&self) -> usize {
        self.tree.depth
    }

    /// The deepest node at the offset; a node also counts where the offset is directly behind it. With several
    /// touching nodes the first non-empty one wins.
    pub fn node_at(&self, offset: usize) -> Option<Node<'_>> {
        let mut node = self.root().filter(|n| n.span().contains(offset))?;
        loop {
            let mut best: Option<Node<'_>> = None;
            for child in node.children() {
                let span = child.full_span();
                if span.start > offset {
                    break;
                }
                if !span.contains(offset) {
                    continue;
                }
                let inside = offset < span.end;
                match best {
                    Some(b) if !inside && !b.full_span().is_empty() => {}
                    _ => best = Some(child),
                }
            }
            match best {
                Some(child) => node = child,
                None => return Some(node),
            }
        }
    }

    /// The node at the path, `None` if a step leads nowhere. Aliases are not followed.
    pub fn find(&self, path: &[Step]) -> Option<Node<'_>> {
        path.iter().try_fold(self.root()?, |node, step| step_of(node, step))
    }

    /// The node at the longest part of the path that exists, and how many steps that are. `None` without a root.
    pub fn nearest(&self, path: &[Step]) -> Option<(Node<'_>, usize)> {
        let mut node = self.root()?;
        for (taken, step) in path.iter().enumerate() {
            match step_of(node, step) {
                Some(next) => node = next,
                None => return Some((node, taken)),
            }
        }
        Some((node, path.len()))
    }

    /// All nodes of the document in the order they were read: keys before their values, parents in general before
    /// their children.
    pub fn nodes(&self) -> impl Iterator<Item = Node<'_>> {
        (0..self.tree.nodes.len() as u32).map(|id| Node { doc: self, id }).filter(|n| n.is_reachable())
    }

    /// Whether the root is a mapping or sequence.
    pub fn is_collection(&self) -> bool {
        self.root().is_some_and(|n| matches!(n.kind(), Kind::Mapping | Kind::Sequence))
    }
}
