//! Moving YAML to the indentation and style of its place.

use crate::split::next_line;
use crate::{Document, Kind, Node, Style, parse_document};

use super::quote_scalar;

/// How the document is laid out.
pub(super) struct Layout {
    /// Columns from a mapping to the mapping inside it.
    pub(super) step: usize,
    /// Columns from a mapping to the dashes of a list inside it.
    pub(super) dash: usize,
    pub(super) newline: &'static str,
}

impl Layout {
    pub(super) fn of(doc: &Document) -> Layout {
        let mut layout = Layout { step: 0, dash: usize::MAX, newline: "\n" };
        if doc.text().contains("\r\n") {
            layout.newline = "\r\n";
        }
        for node in doc.nodes() {
            let Some(parent) = node.parent() else { continue };
            if node.is_flow() || parent.is_flow() || !parent.is_mapping() {
                continue;
            }
            let Some(step) = node.indent().checked_sub(parent.indent()) else { continue };
            match node.kind() {
                Kind::Mapping if layout.step == 0 && step > 0 => layout.step = step,
                Kind::Sequence if layout.dash == usize::MAX => layout.dash = step,
                _ => {}
            }
            if layout.step != 0 && layout.dash != usize::MAX {
                break;
            }
        }
        if layout.step == 0 {
            layout.step = 2;
        }
        if layout.dash == usize::MAX {
            layout.dash = layout.step;
        }
        layout
    }
}

/// YAML to be put somewhere.
pub(super) struct Fragment {
    text: String,
    kind: FragmentKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum FragmentKind {
    /// One line that may stand behind a colon.
    Inline,
    /// A literal or folded scalar: its header stands behind the colon.
    Block,
    Mapping,
    Sequence,
}

impl Fragment {
    pub(super) fn new(yaml: &str) -> Fragment {
        let text = yaml.trim_end_matches([' ', '\t', '\n', '\r']).trim_start_matches(['\n', '\r']).to_owned();
        let doc = parse_document(&text);
        let kind = match doc.root() {
            Some(n) if n.is_mapping() && !n.is_flow() => FragmentKind::Mapping,
            Some(n) if n.is_sequence() && !n.is_flow() => FragmentKind::Sequence,
            Some(n) if matches!(n.style(), Style::Literal | Style::Folded) => FragmentKind::Block,
            _ => FragmentKind::Inline,
        };
        Fragment { text, kind }
    }

    fn source_lines(&self) -> impl Iterator<Item = &str> {
        self.text.lines()
    }

    /// All lines at the column, the first one without indentation.
    pub(super) fn lines(&self, column: usize, layout: &Layout) -> String {
        let mut out = String::new();
        for (i, line) in self.source_lines().enumerate() {
            if i > 0 {
                out.push_str(layout.newline);
                if !line.trim().is_empty() {
                    out.extend(std::iter::repeat_n(' ', column));
                }
            }
            out.push_str(line);
        }
        out
    }

    /// What stands behind the colon or dash of a parent at this column, and what follows below, each line of that
    /// with a break in front.
    pub(super) fn split(&self, column: usize, in_sequence: bool, layout: &Layout) -> (String, String) {
        if in_sequence {
            let text = self.lines(column + 2, layout);
            return (text, String::new());
        }
        match self.kind {
            FragmentKind::Inline | FragmentKind::Block => (self.lines(column + layout.step, layout), String::new()),
            FragmentKind::Mapping | FragmentKind::Sequence => {
                let deeper = if self.kind == FragmentKind::Mapping { layout.step } else { layout.dash };
                let column = column + deeper;
                let below = format!("{}{}{}", layout.newline, " ".repeat(column), self.lines(column, layout));
                (String::new(), below)
            }
        }
    }

    /// One entry of a mapping at this column: key, colon and value, the first line without indentation.
    pub(super) fn entry(&self, key: &str, column: usize, layout: &Layout) -> String {
        let (head, below) = self.split(column, false, layout);
        let gap = if head.is_empty() { "" } else { " " };
        format!("{}:{gap}{head}{below}", quote_scalar(key))
    }

    /// The fragment in flow style on one line.
    pub(super) fn flow(&self) -> String {
        let doc = parse_document(&self.text);
        let Some(root) = doc.root() else { return String::new() };
        if self.kind == FragmentKind::Inline && !self.text.contains(['\n', '\r']) {
            let unsafe_plain =
                root.style() == Style::Plain && root.is_scalar() && root.source().contains([',', '[', ']', '{', '}']);
            if !unsafe_plain {
                return self.text.clone();
            }
        }
        let mut out = String::new();
        enum Work<'d> {
            Node(Node<'d>),
            Text(&'static str),
        }
        let mut work = vec![Work::Node(root)];
        while let Some(item) = work.pop() {
            let node = match item {
                Work::Text(text) => {
                    out.push_str(text);
                    continue;
                }
                Work::Node(node) => node,
            };
            for word in
                [node.anchor().map(|a| format!("&{a} ")), node.tag().map(|t| format!("{t} "))].into_iter().flatten()
            {
                out.push_str(&word);
            }
            match node.kind() {
                Kind::Scalar => match node.style() {
                    Style::Absent => out.push_str("null"),
                    Style::Plain if !node.source().contains([',', '[', ']', '{', '}', '\n', '\r']) => {
                        out.push_str(node.source())
                    }
                    Style::Plain if node.source().starts_with("{{") => out.push_str(node.source()),
                    _ => {
                        let quoted = quote_scalar(&node.value()).into_owned();
                        out.push_str(&quoted);
                    }
                },
                Kind::Alias => {
                    out.push_str(node.source());
                    if node.is_key() {
                        out.push(' ');
                    }
                }
                Kind::Mapping => {
                    out.push('{');
                    work.push(Work::Text("}"));
                    let entries: Vec<_> = node.entries().collect();
                    for (i, entry) in entries.into_iter().enumerate().rev() {
                        work.push(Work::Node(entry.value));
                        work.push(Work::Text(": "));
                        work.push(Work::Node(entry.key));
                        if i > 0 {
                            work.push(Work::Text(", "));
                        }
                    }
                }
                Kind::Sequence => {
                    out.push('[');
                    work.push(Work::Text("]"));
                    let items: Vec<_> = node.items().collect();
                    for (i, item) in items.into_iter().enumerate().rev() {
                        work.push(Work::Node(item));
                        if i > 0 {
                            work.push(Work::Text(", "));
                        }
                    }
                }
            }
        }
        out
    }
}

/// Offset of the start of the line `at` is in.
pub(super) fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind(['\n', '\r']).map_or(0, |i| i + 1)
}

/// Offset of the break that ends the line `at` is in.
pub(super) fn line_end(text: &str, at: usize) -> usize {
    text[at..].find(['\n', '\r']).map_or(text.len(), |i| at + i)
}

/// Offset of the start of the next line, or the end of the text.
pub(super) fn following_line(text: &str, at: usize) -> usize {
    next_line(text.as_bytes(), at)
}

/// Offset of the break in front of a line start.
pub(super) fn line_break_before(text: &str, start: usize) -> usize {
    let head = &text[..start];
    if head.ends_with("\r\n") {
        start - 2
    } else if head.ends_with(['\n', '\r']) {
        start - 1
    } else {
        start
    }
}

/// Offset behind the colon that follows a key ending at `at`; `at` itself if there is none on the line.
pub(super) fn behind_colon(text: &str, at: usize) -> usize {
    let rest = &text[at..line_end(text, at)];
    let trimmed = rest.trim_start_matches([' ', '\t']);
    if trimmed.starts_with(':') { at + (rest.len() - trimmed.len()) + 1 } else { at }
}
