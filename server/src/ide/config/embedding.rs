//! Where a text inside a document stands: from its own places to those of the document around it, and back.

use crate::ide::Span;
use crate::ide::types::TextEdit;
use llsd_yaml::{BlockScalar, Node, Style};

/// How a text is written in the document around it.
#[derive(Clone, Debug)]
pub(crate) enum Embedding {
    /// Nothing is around it: the document is the text.
    Document,
    /// In a literal text, whose lines are those of the text with indentation; or a mapping, read in the same way.
    Block(BlockScalar),
    /// In single or double quotes, where escapes may stand for characters.
    Quoted(Quoted),
    /// In a way in which one line stands for several places, as in a folded text: places are told as the whole.
    Whole(Span),
}

/// A text in quotes, and which of its bytes stand where in the document.
#[derive(Clone, Debug)]
pub(crate) struct Quoted {
    /// What is between the quotes, in the document.
    content: Span,
    double: bool,
    /// Each pair `(inner, outer)` starts a run of bytes that are the same in both. Ascending in both numbers.
    runs: Vec<(usize, usize)>,
    length: usize,
}

impl Embedding {
    /// How the text of a scalar is written.
    pub(super) fn of(node: Node<'_>) -> Self {
        let text = node.value();
        let quoted = || Quoted::of(node, &text);
        match node.style() {
            Style::Literal => node.block().map_or(Self::Whole(node.span()), Self::Block),
            Style::SingleQuoted | Style::DoubleQuoted => quoted().map_or(Self::Whole(node.span()), Self::Quoted),
            _ => Self::Whole(node.span()),
        }
    }

    /// The place in the text of a place of the document; `None` in front of it, behind it, or where places are not told.
    pub(crate) fn inner(&self, outer: usize) -> Option<usize> {
        match self {
            Self::Document => Some(outer),
            Self::Block(block) => block.inner(outer),
            Self::Quoted(quoted) => quoted.inner(outer),
            Self::Whole(_) => None,
        }
    }

    /// Whether what is written at a place of the document becomes part of the text: not in the indentation of its lines.
    pub(crate) fn has_column(&self, outer: usize, text: &str) -> bool {
        let Self::Block(block) = self else { return true };
        let line = text[..outer].rfind('\n').map_or(0, |at| at + 1);
        outer - line >= block.indent
    }

    fn outer(&self, inner: usize) -> Option<usize> {
        match self {
            Self::Document => Some(inner),
            Self::Block(block) => block.outer(inner),
            Self::Quoted(quoted) => quoted.outer(inner),
            Self::Whole(_) => None,
        }
    }

    /// The part of the document that stands for a part of the text, at least roughly.
    pub(crate) fn span(&self, span: Span) -> Span {
        match self {
            Self::Whole(whole) => *whole,
            _ => self.exact(span).unwrap_or_else(|| Span::empty(self.start())),
        }
    }

    /// The part of the document that stands for a part of the text; `None` where that cannot be told.
    pub(crate) fn exact(&self, span: Span) -> Option<Span> {
        let start = self.outer(span.start)?;
        // The end of a line belongs to it, and not to the indentation of the next.
        let last = span.end.checked_sub(1).filter(|last| *last >= span.start);
        let end = last.map_or(Some(start), |last| self.outer_end(last))?;
        Some(Span::new(start, end.max(start)))
    }

    /// The end of the byte at `inner`.
    fn outer_end(&self, inner: usize) -> Option<usize> {
        match self {
            Self::Quoted(quoted) => quoted.outer_end(inner),
            _ => self.outer(inner).map(|at| at + 1),
        }
    }

    fn start(&self) -> usize {
        match self {
            Self::Document => 0,
            Self::Block(block) => block.header.start,
            Self::Quoted(quoted) => quoted.content.start,
            Self::Whole(whole) => whole.start,
        }
    }

    /// The text with its quotes, or all of it where it is folded: it is written anew as a whole.
    pub(crate) fn quoted(&self) -> Option<Span> {
        match self {
            Self::Document | Self::Block(_) => None,
            Self::Quoted(quoted) => Some(Span::new(quoted.content.start - 1, quoted.content.end + 1)),
            Self::Whole(whole) => Some(*whole),
        }
    }

    /// The lines of a literal text, and what they are once it is another one. `None` where it is written otherwise.
    pub(crate) fn block_with(&self, text: &str, outer: &str) -> Option<(Span, String)> {
        let Self::Block(block) = self else { return None };
        let (content, indent) = (block.content.slice(outer), " ".repeat(block.indent));
        let newline = if content.contains("\r\n") { "\r\n" } else { "\n" };
        let line = |line: &str| if line.is_empty() { String::new() } else { format!("{indent}{line}") };
        let lines: Vec<String> = text.trim_end_matches('\n').split('\n').map(line).collect();
        let last = if content.ends_with('\n') { newline } else { "" };
        Some((block.content, lines.join(newline) + last))
    }

    /// Whether everything is at the same place inside and outside.
    pub(crate) fn is_document(&self) -> bool {
        matches!(self, Self::Document)
    }

    /// Whether single places are told.
    pub(crate) fn is_exact(&self) -> bool {
        !matches!(self, Self::Whole(_))
    }

    /// An edit of the text as one of the document, whose text is `outer`; `None` where it cannot be written.
    pub(crate) fn edit(&self, edit: &TextEdit, outer: &str) -> Option<TextEdit> {
        match self {
            Self::Document => Some(edit.clone()),
            Self::Block(block) => in_block(block, edit, outer),
            Self::Quoted(quoted) => quoted.edit(edit),
            Self::Whole(_) => None,
        }
    }

    /// The text up to a place of the document behind its last line: blank lines there do not count as part of a literal
    /// text, until something is written on them.
    pub(crate) fn extended(&self, inner: &str, offset: usize, outer: &str) -> Option<String> {
        let Self::Block(block) = self else { return None };
        let last = outer.get(..block.content.end)?.trim_end().len();
        let behind = outer.get(last..offset)?;
        let is_blank = behind.chars().all(|char| matches!(char, ' ' | '\n' | '\r'));
        let (_, line) = behind.rsplit_once('\n').filter(|(_, line)| is_blank && line.len() >= block.indent)?;
        // Lines between the content and the cursor count only while they are not part of the text already.
        let breaks = behind.matches('\n').count();
        let content = inner.trim_end();
        Some(format!("{content}{}{}", "\n".repeat(breaks), &line[block.indent..]))
    }
}

fn in_block(block: &BlockScalar, edit: &TextEdit, outer: &str) -> Option<TextEdit> {
    let start = block.outer(edit.span.start)?;
    let end = block.outer(edit.span.end)?;
    let indent = " ".repeat(block.indent);
    let at_margin = start == 0 || outer.as_bytes().get(start - 1) == Some(&b'\n');
    let mut new_text = edit.new_text.replace('\n', &format!("\n{indent}"));
    // The last line break of the text is not part of the content: what begins a line behind it begins one here.
    let at_end = !at_margin && outer[end.max(start)..].chars().next().is_none_or(|next| matches!(next, '\n' | '\r'));
    if at_end
        && edit.span.is_empty()
        && !edit.new_text.starts_with('\n')
        && let Some(lines) = new_text.strip_suffix(&format!("\n{indent}"))
    {
        new_text = format!("\n{indent}{lines}");
    }
    if at_margin && !new_text.is_empty() {
        new_text = format!("{indent}{}", new_text.strip_suffix(&indent).unwrap_or(&new_text));
    }
    Some(TextEdit { span: Span::new(start, end.max(start)), new_text })
}

impl Quoted {
    /// Goes through the source and what it means side by side. `None` where they do not fit together.
    fn of(node: Node<'_>, text: &str) -> Option<Self> {
        let span = node.span();
        if node.is_unclosed() || span.len() < 2 {
            return None;
        }
        let content = Span::new(span.start + 1, span.end - 1);
        let source = content.slice(node.document().text());
        let double = node.style() == Style::DoubleQuoted;
        let (mut runs, mut at, mut inner) = (vec![(0, content.start)], 0, 0);
        while at < source.len() {
            let (taken, given) = step(&source[at..], &text[inner..], double)?;
            at += taken;
            inner += given;
            if taken != given {
                runs.push((inner, content.start + at));
            }
        }
        (inner == text.len()).then_some(Self { content, double, runs, length: text.len() })
    }

    fn outer(&self, inner: usize) -> Option<usize> {
        if inner > self.length {
            return None;
        }
        let after = self.runs.partition_point(|run| run.0 <= inner);
        let (from, to) = *self.runs.get(after.checked_sub(1)?)?;
        let next = self.runs.get(after).map_or(self.content.end, |next| next.1);
        Some((to + (inner - from)).min(next))
    }

    /// Where the byte at `inner` ends: an escape is longer than what it stands for.
    fn outer_end(&self, inner: usize) -> Option<usize> {
        let after = self.runs.partition_point(|run| run.0 <= inner);
        let next = self.runs.get(after).filter(|next| next.0 == inner + 1);
        next.map(|next| next.1).or_else(|| self.outer(inner + 1))
    }

    fn inner(&self, outer: usize) -> Option<usize> {
        if outer < self.content.start || outer > self.content.end {
            return None;
        }
        let after = self.runs.partition_point(|run| run.1 <= outer);
        let (from, to) = *self.runs.get(after.checked_sub(1)?)?;
        let most = self.runs.get(after).map_or(self.length, |next| next.0);
        Some((from + (outer - to)).min(most))
    }

    fn edit(&self, edit: &TextEdit) -> Option<TextEdit> {
        let (start, end) = (self.outer(edit.span.start)?, self.outer(edit.span.end)?);
        let plain = |char: char| !char.is_control() || (self.double && char == '\n');
        if !edit.new_text.chars().all(plain) {
            return None;
        }
        let new_text = if self.double {
            edit.new_text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
        } else {
            edit.new_text.replace('\'', "''")
        };
        Some(TextEdit { span: Span::new(start, end.max(start)), new_text })
    }
}

/// The next piece of a quoted source and of its meaning: how many bytes of each.
fn step(source: &str, text: &str, double: bool) -> Option<(usize, usize)> {
    let next = text.chars().next();
    let given = next.map_or(0, char::len_utf8);
    if !double && source.starts_with("''") {
        return (next == Some('\'')).then_some((2, 1));
    }
    // Blanks around a break, and breaks themselves, become one blank or some breaks.
    let folded = source.trim_start_matches([' ', '\t']);
    if folded.starts_with(['\n', '\r']) {
        let behind = source.trim_start_matches([' ', '\t', '\n', '\r']);
        let taken = source.len() - behind.len();
        let breaks = source[..taken].matches('\n').count();
        let given = if breaks <= 1 { 1 } else { breaks - 1 };
        let fits = text.get(..given).is_some_and(|text| text.chars().all(|char| matches!(char, ' ' | '\n')));
        return fits.then_some((taken, given));
    }
    let Some(escaped) = source.strip_prefix('\\').filter(|_| double) else {
        return (source.chars().next() == next).then_some((given, given));
    };
    let taken_and_given = match escaped.chars().next()? {
        '\n' | '\r' => Some((source.len() - escaped.trim_start_matches([' ', '\t', '\n', '\r']).len(), 0)),
        'x' => Some((4, given)),
        'u' => Some((6, given)),
        'U' => Some((10, given)),
        other => Some((1 + other.len_utf8(), given)),
    };
    taken_and_given.filter(|(taken, _)| *taken <= source.len() && source.is_char_boundary(*taken))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use llsd_yaml::{Step, parse_document};

    /// The document with a text at `data.a`, and how that is written.
    fn embedded(text: &str) -> (String, Embedding) {
        let tree = parse_document(text);
        let node = tree.find(&[Step::Key("data".into()), Step::Key("a".into())]).unwrap();
        (node.value().into_owned(), Embedding::of(node))
    }

    #[test]
    fn every_word_is_found_where_it_stands() {
        for text in [
            "data:\n  a: |\n    one: two\n\n    three: [four]\n",
            "data:\n  a: \"one: two\\nthree: [four]\\n\"\n",
            "data:\n  a: \"one: two\\n\\\n    three: [fo\\x75r]\\n\"\n".replace("fo\\x75r", "four").as_str(),
            "data:\n  a: '{one: two, three: [four]}'\n",
            "{\"data\": {\"a\": \"one: two\\nthree:\\t\\\"four\\\"\"}}",
        ] {
            let (inner, embedding) = embedded(text);
            for word in ["one", "two", "three", "four"] {
                let at = inner.find(word).unwrap();
                let span = embedding.exact(Span::new(at, at + word.len())).unwrap();
                assert_eq!(span.slice(text), word, "{text}");
                assert_eq!(embedding.inner(span.start), Some(at), "{text}");
            }
        }
    }

    #[test]
    fn edits_are_written_as_the_text_around_them() {
        let edited = |text: &str, new: &str| {
            let (inner, embedding) = embedded(text);
            let at = inner.find("two").unwrap();
            let edit = TextEdit { span: Span::new(at, at + 3), new_text: new.to_owned() };
            let edit = embedding.edit(&edit, text)?;
            let mut text = text.to_owned();
            text.replace_range(edit.span.start..edit.span.end, &edit.new_text);
            Some(embedded(&text).0)
        };
        let quoted = "data:\n  a: \"one: two\\nthree: 3\\n\"\n";
        assert_eq!(edited(quoted, "\"2\"\nx: y").unwrap(), "one: \"2\"\nx: y\nthree: 3\n");
        assert_eq!(edited("data:\n  a: '{one: two}'\n", "it's").unwrap(), "{one: it's}");
        assert_eq!(edited("data:\n  a: '{one: two}'\n", "a\nb"), None);
        assert_eq!(edited("data:\n  a: |\n    one: two\n", "\n  b").unwrap(), "one: \n  b\n");
    }

    #[test]
    fn lines_behind_the_last_one_are_lines_of_their_own() {
        for (text, wanted) in [
            ("data:\n  a: |\n    one: 1\n", "one: 1\ntwo:\n  x: 2\n"),
            ("data:\n  a: |\n    one: 1\n\n  b: c\n", "one: 1\ntwo:\n  x: 2\n"),
            ("data:\n  a: |-\n    one: 1\n", "one: 1\ntwo:\n  x: 2"),
            ("data:\n  a: |\n    one: 1", "one: 1\ntwo:\n  x: 2"),
        ] {
            let (inner, embedding) = embedded(text);
            let edit = TextEdit { span: Span::new(inner.len(), inner.len()), new_text: "two:\n  x: 2\n".to_owned() };
            let edit = embedding.edit(&edit, text).unwrap();
            let mut after = text.to_owned();
            after.replace_range(edit.span.start..edit.span.end, &edit.new_text);
            assert_eq!(embedded(&after).0.trim_end(), wanted.trim_end(), "{text:?} -> {after:?}");
        }
    }

    #[test]
    fn a_line_behind_the_last_one_is_part_of_the_text_for_who_writes_there() {
        let text = "data:\n  a: |\n    one:\n      \n";
        let (inner, embedding) = embedded(text);
        assert_eq!(embedding.extended(&inner, text.len() - 1, text).unwrap(), "one:\n  ");
        assert_eq!(embedding.extended(&inner, text.find("one").unwrap(), text), None);
    }
}
