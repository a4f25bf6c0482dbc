//! What a person is about to write at an offset.

use crate::split::next_line;
use crate::{Document, Kind, Node, Span, Step, Style};

/// What can be written at the cursor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CursorPlace {
    /// A key of the mapping [`Cursor::container`].
    Key {
        /// Keys the mapping already has, the one at the cursor left out.
        existing: Vec<String>,
    },
    /// The value at this path.
    Value {
        /// Path of the value; its last step is the key.
        path: Vec<Step>,
    },
    /// An item, or the first key of an item that is a mapping.
    Item {
        /// Path of the item; its last step is the index.
        path: Vec<Step>,
    },
    /// A comment: nothing is completed.
    Comment,
    /// Nothing can be completed: inside a text block, in the indentation of a line, behind a complete value.
    None,
}

/// The place of the cursor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cursor {
    /// The kind of place at the cursor, which decides what a completion may offer.
    pub place: CursorPlace,
    /// Path of the mapping or sequence the cursor is in. On empty and half-typed lines chosen by indentation, so that
    /// it may be a path whose value does not exist yet.
    pub container: Vec<Step>,
    /// What a completion replaces; empty where nothing is written yet.
    pub replace: Span,
    /// The part of the replaced text in front of the cursor, without an opening quote.
    pub prefix: String,
    /// A blank has to be written in front of the completion: the cursor stands directly behind `:` or `-`.
    pub needs_space: bool,
    /// Between brackets: what is written has to be in flow style.
    pub flow: bool,
}

/// Finds out what can be written at the offset. An offset out of bounds or inside a character is moved back.
pub fn cursor_at(doc: &Document, offset: usize) -> Cursor {
    let text = doc.text();
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    let here = Here { doc, text, offset };
    if doc.comment_at(offset).is_some_and(|c| c.span.start < offset) {
        return here.cursor(CursorPlace::Comment, Vec::new(), Span::empty(offset));
    }
    match here.in_flow() {
        Some(cursor) => Cursor { flow: true, ..cursor },
        None => here.in_block(),
    }
}

struct Here<'d> {
    doc: &'d Document,
    text: &'d str,
    offset: usize,
}

impl<'d> Here<'d> {
    fn cursor(&self, place: CursorPlace, container: Vec<Step>, replace: Span) -> Cursor {
        // Of a quote without end the parser may have kept the word only.
        let mut replace = replace;
        let before = &self.text[..replace.start];
        if matches!(place, CursorPlace::Key { .. })
            && before.ends_with(['"', '\''])
            && before[self.line_start(replace.start)..].trim_start().len() == 1
        {
            replace.start -= 1;
        }
        let written = Span::new(replace.start, self.offset.clamp(replace.start, replace.end.max(replace.start)));
        let prefix = written.slice(self.text).trim_start_matches(['"', '\'']).to_owned();
        let needs_space = matches!(place, CursorPlace::Value { .. } | CursorPlace::Item { .. })
            && replace.start == self.offset
            && self.text[..replace.start].ends_with([':', '-']);
        Cursor { place, container, replace, prefix, needs_space, flow: false }
    }

    fn none(&self) -> Cursor {
        self.cursor(CursorPlace::None, Vec::new(), Span::empty(self.offset))
    }

    fn key(&self, container: Option<Node<'d>>, path: Vec<Step>, replace: Span, own: Option<Node<'d>>) -> Cursor {
        let existing = container
            .iter()
            .flat_map(|n| n.entries())
            .filter(|e| Some(e.key) != own && !e.key.is_absent())
            .map(|e| e.key.key_text().into_owned())
            .collect();
        self.cursor(CursorPlace::Key { existing }, path, replace)
    }

    fn value(&self, node: Node<'d>, replace: Span) -> Cursor {
        let path = node.path();
        let container = path[..path.len().saturating_sub(1)].to_vec();
        let place = match path.last() {
            Some(Step::Index(_)) => CursorPlace::Item { path },
            _ => CursorPlace::Value { path },
        };
        self.cursor(place, container, replace)
    }

    fn line_start(&self, at: usize) -> usize {
        self.text[..at].rfind(['\n', '\r']).map_or(0, |i| i + 1)
    }

    // Flow style.

    /// The innermost bracketed collection around the cursor.
    fn flow_collection(&self) -> Option<Node<'d>> {
        let mut found = None;
        let mut node = self.doc.root()?;
        loop {
            if node.is_flow() {
                let span = node.span();
                // Of brackets that are open at the end only the outermost is marked.
                let source = node.source();
                let open = node.is_unclosed() || source.len() < 2 || !source.ends_with([']', '}']);
                let inside =
                    span.start < self.offset && (self.offset < span.end || (open && self.offset <= self.reach(node)));
                if inside && self.text[span.start..].starts_with(['[', '{']) {
                    found = Some(node);
                }
            }
            let next = node.children().filter(|c| c.span().start < self.offset).last();
            match next {
                Some(child) if matches!(child.kind(), Kind::Mapping | Kind::Sequence) => node = child,
                _ => return found,
            }
        }
    }

    /// How far an unclosed collection can be continued: to the end of its last line.
    fn reach(&self, node: Node<'d>) -> usize {
        let end = node.span().end;
        self.text[end..].find(['\n', '\r']).map_or(self.text.len(), |i| end + i)
    }

    fn in_flow(&self) -> Option<Cursor> {
        let flow = self.flow_collection()?;
        let touched = flow.children().find(|c| c.is_scalar() && !c.is_absent() && c.span().contains(self.offset));
        // A pair without braces inside brackets.
        let pair =
            flow.items().find(|i| i.is_mapping() && !i.source().starts_with('{') && i.span().contains(self.offset));
        if let Some(node) = touched.or_else(|| pair.and_then(|p| p.children().find(|c| c.span().contains(self.offset))))
        {
            return Some(self.on_scalar(node));
        }
        let before = self.text[..self.offset].trim_end();
        Some(match (before.chars().next_back(), flow.kind()) {
            (Some('{'), Kind::Mapping) | (Some(','), Kind::Mapping) => {
                self.key(Some(flow), flow.path(), Span::empty(self.offset), None)
            }
            (Some(':'), _) => match flow.entries().filter(|e| e.key.span().end < self.offset).last() {
                Some(entry) => self.value(entry.value, Span::empty(self.offset)),
                None => self.none(),
            },
            (Some('['), Kind::Sequence) | (Some(','), Kind::Sequence) => {
                let index = flow.items().filter(|i| i.span().end <= before.len()).count();
                let container = flow.path();
                let mut path = container.clone();
                path.push(Step::Index(index));
                self.cursor(CursorPlace::Item { path }, container, Span::empty(self.offset))
            }
            _ => self.none(),
        })
    }

    /// The cursor touches a scalar.
    fn on_scalar(&self, node: Node<'d>) -> Cursor {
        if node.is_key() {
            let parent = node.parent();
            let path = parent.map(|p| p.path()).unwrap_or_default();
            return self.key(parent, path, node.span(), Some(node));
        }
        self.value(node, node.span())
    }

    // Block style.

    fn in_block(&self) -> Cursor {
        let start = self.line_start(self.offset);
        let end = self.text[self.offset..].find(['\n', '\r']).map_or(self.text.len(), |i| self.offset + i);
        let line = &self.text[start..end];
        let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
        if let Some(node) = self.covering_scalar() {
            return self.in_scalar(node, start, start + indent);
        }
        let comments = self.doc.comments();
        let comment = comments.get(comments.partition_point(|comment| comment.span.start < start));
        let before_comment = match comment.filter(|comment| comment.span.start < end) {
            Some(comment) => &self.text[start..comment.span.start],
            None => line,
        };
        if before_comment.trim().is_empty() {
            return self.by_indentation(self.offset - start, Span::empty(self.offset));
        }
        if let Some(cursor) = self.in_front_of_colon(start) {
            return cursor;
        }
        if self.offset < start + indent || self.text[start..].starts_with("---") {
            return self.none();
        }
        // A word alone on its line that the parser could not place is a key half typed.
        let word = Span::new(start + indent, start + before_comment.trim_end().len());
        let is_word = !word.slice(self.text).contains([':', '{', '[']) && !word.slice(self.text).starts_with('-');
        let placed = self.doc.node_at(self.offset).is_some_and(|node| node.is_scalar() && !node.is_absent());
        if is_word && word.contains(self.offset) && !placed {
            return self.by_indentation(indent, word);
        }
        self.behind_sign(start)
    }

    /// At the start of a line, or behind its dashes, with the colon and the value of a key that is gone.
    fn in_front_of_colon(&self, line: usize) -> Option<Cursor> {
        let signs = &self.text[line..self.offset];
        let rest = &self.text[self.offset..];
        let behind = rest.trim_start_matches([' ', '\t']);
        let colon = self.offset + rest.len() - behind.len();
        let is_value = behind.strip_prefix(':')?.chars().next().is_none_or(char::is_whitespace);
        if !is_value || !signs.split([' ', '\t']).all(|sign| matches!(sign, "" | "-" | "?")) {
            return None;
        }
        let place = Span::empty(self.offset);
        let mut node = self.doc.node_at(colon);
        while let Some(found) = node {
            let own = found
                .entries()
                .map(|entry| entry.key)
                .find(|key| key.is_absent() && (self.offset..=colon).contains(&key.span().start));
            if own.is_some() {
                return Some(self.key(Some(found), found.path(), place, own));
            }
            node = found.parent();
        }
        Some(self.by_indentation(self.offset - line, place))
    }

    /// The scalar the cursor is in or touches.
    fn covering_scalar(&self) -> Option<Node<'d>> {
        let node = self.doc.node_at(self.offset)?;
        if node.is_scalar() && !node.is_absent() {
            return Some(node);
        }
        // An empty line inside a text block that has not begun or has ended.
        None
    }

    fn in_scalar(&self, node: Node<'d>, line: usize, content: usize) -> Cursor {
        let span = node.span();
        if let Some(block) = node.block() {
            return if self.offset <= block.header.end { self.value(node, block.header) } else { self.none() };
        }
        if node.is_key() {
            return self.on_scalar(node);
        }
        let several = Span::new(span.start, self.offset).slice(self.text).contains(['\n', '\r']);
        if several {
            if node.style() != Style::Plain {
                return self.value(node, span);
            }
            // The last line of a text may be a key that is only half typed.
            let end = self.text[self.offset..].find(['\n', '\r']).map_or(self.text.len(), |i| self.offset + i);
            let end = end.min(span.end).max(content);
            let dashes =
                content + self.text[content..end].len() - self.text[content..end].trim_start_matches("- ").len();
            if dashes > content && dashes <= self.offset {
                return self.by_dash(content - line, Span::new(dashes, end));
            }
            // Of several words, each on a line of its own below a key, each is such a key.
            let first = self.line_start(span.start);
            let below = node.key().is_some_and(|key| key.span().end < first);
            if below && span.start - first == content - line {
                return self.key(None, node.path(), Span::new(content, end), None);
            }
            return self.by_indentation(content - line, Span::new(content, end));
        }
        let alone = span.start == content;
        if alone
            && node.key().is_none_or(|key| key.span().end < line)
            && (node.key().is_some() || node.parent().is_none())
        {
            // Of a text of several lines the first may be a key that is only half typed, too.
            let first = span.slice(self.text).split(['\n', '\r']).next().unwrap_or_default().trim_end();
            let is_text = first.contains(' ') && first.len() < span.len();
            let word = Span::new(span.start, span.start + first.len());
            let too_far_left = node.parent().is_some_and(|parent| content - line <= parent.indent());
            if too_far_left {
                return self.by_indentation(content - line, word);
            }
            if !is_text && (node.style() == Style::Plain || first.len() == span.len()) {
                return self.key(None, node.path(), word, None);
            }
        }
        self.value(node, span)
    }

    /// On a line with content, but not on a scalar: behind `key:`, `- `, a value, or a property.
    fn behind_sign(&self, line: usize) -> Cursor {
        let mut node = match self.doc.root() {
            Some(root) => root,
            None => return self.none(),
        };
        loop {
            let last = match node.kind() {
                Kind::Mapping => {
                    node.entries().filter(|e| e.key.full_span().start < self.offset).last().map(|e| e.value)
                }
                Kind::Sequence => node.items().filter(|i| self.dash_of(*i) < self.offset).last(),
                _ => None,
            };
            let Some(value) = last else { return self.none() };
            let span = value.full_span();
            if span.start < self.offset && matches!(value.kind(), Kind::Mapping | Kind::Sequence) {
                node = value;
                continue;
            }
            let sign = match value.key() {
                Some(key) => key.full_span().end,
                None => self.dash_of(value),
            };
            if self.line_start(sign) != line || sign >= self.offset {
                return self.none();
            }
            if value.is_absent() || span.start >= self.offset {
                let between = &self.text[sign..self.offset];
                // In front of the colon nothing is completed.
                if value.key().is_some() && !between.contains(':') {
                    return self.none();
                }
                if value.is_absent() {
                    return self.value(value, Span::empty(self.offset));
                }
                let same_line = self.line_start(span.start) == line;
                return match value.kind() {
                    // Behind a dash that the keys of its item stand below.
                    Kind::Mapping if value.key().is_none() && !value.is_flow() => {
                        self.key(Some(value), value.path(), Span::empty(self.offset), None)
                    }
                    Kind::Mapping | Kind::Sequence => self.none(),
                    _ if same_line && value.block().is_none() => self.value(value, Span::new(self.offset, span.end)),
                    _ => self.none(),
                };
            }
            let gap = &self.text[span.end.min(self.offset)..self.offset];
            if value.is_scalar() && value.style() == Style::Plain && gap.trim().is_empty() {
                return self.value(value, Span::new(span.start, self.offset));
            }
            return self.none();
        }
    }

    /// The offset of an item's dash: at its collection's column, on the item's line or above, with nothing but
    /// comments between.
    fn dash_of(&self, item: Node<'d>) -> usize {
        let start = item.full_span().start;
        let comments = self.doc.comments();
        let mut above = comments.partition_point(|comment| comment.span.start < start);
        let mut head = &self.text[..start];
        loop {
            head = head.trim_end_matches([' ', '\t', '\n', '\r']);
            match above.checked_sub(1).map(|last| comments[last].span) {
                Some(comment) if comment.start < head.len() && comment.end >= head.len() => {
                    head = &self.text[..comment.start];
                    above -= 1;
                }
                _ => return if head.ends_with('-') { head.len() - 1 } else { start },
            }
        }
    }

    /// On an empty or half-typed line: the level is chosen by the column.
    fn by_indentation(&self, column: usize, replace: Span) -> Cursor {
        let Some(root) = self.doc.root() else {
            return self.key(None, Vec::new(), replace, None);
        };
        if !matches!(root.kind(), Kind::Mapping | Kind::Sequence) || root.is_flow() {
            let before = replace.start <= root.full_span().start || root.is_absent();
            return if before { self.key(None, Vec::new(), replace, None) } else { self.none() };
        }
        if self.in_text_block(column) {
            return self.none();
        }
        let (levels, open_value) = self.levels(root, replace.start);
        let deepest = levels[levels.len() - 1];
        if let Some(value) = open_value
            && column > deepest.indent()
        {
            return self.key(None, value.path(), replace, None);
        }
        // What stands below the line belongs to a key above it, and would belong to what is written here.
        let below = levels.iter().position(|level| level.full_span().start >= replace.end).filter(|at| *at > 0);
        let chosen = match below {
            Some(at) if levels[at].indent() == column => Some(&levels[at]),
            Some(at) if (levels[at - 1].indent() + 1..levels[at].indent()).contains(&column) => {
                return self.key(None, levels[at].path(), replace, None);
            }
            Some(_) => None,
            // At a column of two levels mappings win over lists.
            None => levels.iter().rev().filter(|n| n.indent() == column).max_by_key(|n| n.is_mapping()),
        };
        let Some(&chosen) = chosen else { return self.none() };
        if chosen.is_sequence() {
            return self.next_item(chosen, replace);
        }
        // Of a quote without end the key begins behind it.
        let quoted = usize::from(replace.slice(self.text).starts_with(['"', '\'']));
        let mut keys = chosen.entries().map(|entry| entry.key);
        let own = keys
            .find(|key| !replace.is_empty() && (replace.start..=replace.start + quoted).contains(&key.span().start));
        self.key(Some(chosen), chosen.path(), replace, own)
    }

    /// Behind a dash at the column, where the parser saw no item.
    fn by_dash(&self, column: usize, replace: Span) -> Cursor {
        let Some(root) = self.doc.root() else { return self.none() };
        let (levels, _) = self.levels(root, replace.start);
        match levels.iter().rfind(|level| level.is_sequence() && level.indent() == column) {
            Some(list) => self.next_item(*list, replace),
            None => self.none(),
        }
    }

    /// The item of the list that begins at the place.
    fn next_item(&self, list: Node<'d>, replace: Span) -> Cursor {
        let container = list.path();
        let mut path = container.clone();
        path.push(Step::Index(list.items().filter(|item| self.dash_of(*item) < replace.start).count()));
        self.cursor(CursorPlace::Item { path }, container, replace)
    }

    /// The block collections that are open in front of the offset, from the outside in, and the value that is not
    /// written yet at the end of the last.
    fn levels(&self, root: Node<'d>, at: usize) -> (Vec<Node<'d>>, Option<Node<'d>>) {
        let mut levels = vec![root];
        loop {
            let node = levels[levels.len() - 1];
            let last = match node.kind() {
                Kind::Mapping => node.entries().filter(|e| e.key.full_span().start < at).last().map(|e| e.value),
                _ => node.items().filter(|i| self.dash_of(*i) < at).last(),
            };
            let Some(value) = last else { return (levels, None) };
            if matches!(value.kind(), Kind::Mapping | Kind::Sequence) && !value.is_flow() {
                levels.push(value);
                continue;
            }
            return (levels, Some(value).filter(|value| value.is_absent() || value.span().start >= at));
        }
    }

    /// Whether the empty line belongs to a text block: one stands directly above, and the column is deep enough.
    fn in_text_block(&self, column: usize) -> bool {
        let bytes = self.text.as_bytes();
        let Some(node) = self.doc.nodes().filter(|n| n.span().start < self.offset && n.block().is_some()).last() else {
            return false;
        };
        let Some(block) = node.block() else { return false };
        let parent = node.parent().map_or(0, |p| p.indent());
        let last = block.content.end.max(block.header.end);
        if self.offset <= last {
            return self.offset > block.header.end;
        }
        let from = next_line(bytes, last);
        let between = self.text.get(from.min(self.offset)..self.offset).unwrap_or("");
        between.trim().is_empty() && column > parent
    }
}
