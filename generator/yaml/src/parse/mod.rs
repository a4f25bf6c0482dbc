//! The tolerant parser: one pass over the lines with a stack of open block collections.
//!
//! `block` places lines on the stack that `build` keeps, `flow` reads brackets with a stack of its own, `scan` finds the
//! ends of scalars. A line that fits nowhere finds its level in `place`, or is read by `broken`. Nothing recurses; every
//! byte is looked at a bounded number of times. A text with errors is read again with its likely damage mended, see
//! `repair`.

mod ahead;
mod block;
mod broken;
mod build;
mod changes;
mod doubtful;
mod flow;
mod flow_levels;
mod line;
mod orphan;
mod place;
mod plausible;
mod props;
mod reopen;
mod repair;
mod scalars;
mod scan;
mod skipped;

use std::sync::OnceLock;

use crate::split::{Markers, bom, is_marker, next_line};
use crate::tree::{NONE, Tree};
use crate::{Comment, Document, Skipped, Span, SyntaxError};

pub(crate) use line::is_conflict;

/// Reads one document. Never fails: what cannot be read is listed in [`Document::errors`], and the rest is in the
/// tree. A second `---` ends the document; read files with [`crate::Stream`].
pub fn parse_document(text: &str) -> Document {
    let mut parser = Parser::new(text.as_bytes());
    // Offsets are kept in 32 bits.
    if text.len() < NONE as usize {
        parser.run();
    } else {
        parser.error(Span::empty(0), "the document is too large to be read");
    }
    let reading = if parser.errors.is_empty() || text.len() >= NONE as usize {
        parser.done()
    } else {
        lenient_reading(text).unwrap_or_else(|| broken_reading(text, parser))
    };
    let Reading { mut tree, comments, skipped, mut errors } = reading;
    errors.sort_by_key(|e| e.span.start);
    tree.nodes.shrink_to_fit();
    Document { text: text.to_owned(), tree, comments, skipped, errors, strict: OnceLock::new(), wide: OnceLock::new() }
}

/// Reads what is not well-formed by the letter of YAML, but is for the judge: text in brackets and quotes left of the
/// block around it, and a tab in front of the first entry.
fn lenient_reading(text: &str) -> Option<Reading> {
    if text.len() > repair::LONGEST {
        return None;
    }
    let mut parser = Parser::new(text.as_bytes());
    parser.lenient = true;
    parser.run();
    (parser.errors.is_empty() && crate::strict::judge(text).is_none()).then(|| parser.done())
}

/// Reads a text known to be broken: once more, taking odd indentation for a fault as well, and then with its lines
/// mended.
fn broken_reading(text: &str, first: Parser<'_>) -> Reading {
    let mut again = Parser::new(text.as_bytes());
    again.recovering = true;
    again.step = line::usual_step(text.as_bytes());
    again.run();
    let reading = if again.errors.is_empty() { first.done() } else { again.done() };
    repair::mend(text, reading)
}

/// What may be written at a place of an open collection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Slot {
    /// Nothing: the next entry or item comes first.
    Closed,
    /// The value of an entry, an item, or the root.
    Value,
    /// The key behind `? `.
    Key,
    /// The `: ` behind such a key.
    KeyDone,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Container {
    Root,
    Map,
    Seq,
}

/// A block collection to which lines may still be added.
#[derive(Clone, Copy, Debug)]
struct Frame {
    node: u32,
    container: Container,
    slot: Slot,
    /// Column of the keys or dashes; -1 for the root.
    indent: i32,
    /// The entry's key while its value is open.
    key: u32,
    /// Entries or items so far.
    count: u32,
    /// Where an absent value stands.
    at: usize,
    /// Properties on a line before their node.
    props: u32,
    /// The column is not known yet: the collection was opened behind another key on its line.
    floating: bool,
}

/// What one pass over a text found.
struct Reading {
    tree: Tree,
    comments: Vec<Comment>,
    skipped: Vec<Skipped>,
    errors: Vec<SyntaxError>,
}

struct Parser<'t> {
    bytes: &'t [u8],
    pos: usize,
    line_start: usize,
    tree: Tree,
    comments: Vec<Comment>,
    skipped: Vec<Skipped>,
    errors: Vec<SyntaxError>,
    stack: Vec<Frame>,
    /// Frames closed by lines that stand further left, innermost first; emptied when a collection opens.
    recently_closed: Vec<Frame>,
    /// Bytes that may still be read again after a bracket or quote turned out to have no end.
    budget: usize,
    in_conflict: bool,
    /// The text is known to be broken, so that what is allowed but unusual is taken for damage.
    recovering: bool,
    /// Text in brackets and quotes may go on at any column.
    lenient: bool,
    /// Columns by which the text usually indents.
    step: i32,
    /// With more errors than this, nobody wants to know the rest.
    most_errors: usize,
}

impl<'t> Parser<'t> {
    fn new(bytes: &'t [u8]) -> Parser<'t> {
        let mut tree = Tree::default();
        tree.nodes.reserve(bytes.len() / 16 + 4);
        Parser {
            bytes,
            pos: 0,
            line_start: 0,
            tree,
            comments: Vec::new(),
            skipped: Vec::new(),
            errors: Vec::new(),
            stack: Vec::with_capacity(16),
            recently_closed: Vec::new(),
            budget: 1 << 16,
            in_conflict: false,
            recovering: false,
            lenient: false,
            step: 2,
            most_errors: usize::MAX,
        }
    }

    fn done(self) -> Reading {
        let Parser { tree, comments, skipped, errors, .. } = self;
        Reading { tree, comments, skipped, errors }
    }

    fn run(&mut self) {
        let explicit = self.prologue();
        self.budget += 4 * self.bytes.len();
        let start = self.pos;
        self.stack.push(Frame {
            node: NONE,
            container: Container::Root,
            slot: Slot::Value,
            indent: -1,
            key: NONE,
            count: 0,
            at: start,
            props: NONE,
            floating: false,
        });
        if explicit {
            self.skip_blanks();
            let alone = self.at_line_end();
            if !alone {
                self.inline((self.pos - self.line_start) as i32, false);
            }
            self.finish_line();
            if alone {
                self.pos += bom(self.bytes, self.pos);
            }
        }
        while self.pos < self.bytes.len() && self.errors.len() <= self.most_errors {
            self.line();
        }
        self.pos = self.bytes.len();
        while self.stack.len() > 1 {
            self.pop();
        }
        let root = self.stack[0];
        if root.slot == Slot::Value && (explicit || root.props != NONE) {
            self.fill_absent();
        }
    }

    /// Steps over everything up to and with `---`, and cuts the text at the document's end. Returns whether there is
    /// such a marker.
    fn prologue(&mut self) -> bool {
        let mut at = bom(self.bytes, 0);
        let mut directive = None;
        let mut explicit = false;
        loop {
            self.line_start = at;
            self.pos = at;
            let content = at + self.bytes[at..].iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
            match self.bytes.get(content) {
                None => break,
                Some(b'\n' | b'\r') => {}
                Some(b'#') => {
                    self.pos = content;
                    self.comment(true);
                }
                Some(b'%') if content == at => {
                    let end = scan::line_end(self.bytes, at);
                    directive.get_or_insert(Span::new(at, end));
                }
                Some(b'-') if is_marker(self.bytes, at, b"---") => {
                    explicit = true;
                    break;
                }
                Some(_) => break,
            }
            at = next_line(self.bytes, at);
            at += bom(self.bytes, at);
        }
        if explicit {
            self.pos += 3;
        } else if let Some(span) = directive {
            self.error(span, "a directive must be followed by a line `---`");
        }
        self.cut();
        explicit
    }

    /// Cuts the text at the next document marker.
    fn cut(&mut self) {
        let at = if self.pos == self.line_start { self.pos } else { next_line(self.bytes, self.pos) };
        let marker = |at: usize| is_marker(self.bytes, at, b"---") || is_marker(self.bytes, at, b"...");
        let at = match at {
            _ if at < self.bytes.len() && marker(at) => at,
            0 => Markers::new(self.bytes).behind(0),
            _ => Markers::new(self.bytes).behind(at - 1),
        };
        if at >= self.bytes.len() {
            return;
        }
        let rest = at + 3 + self.bytes[at + 3..].iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
        if self.bytes[at] == b'-' {
            self.error(Span::new(at, at + 3), "another document starts here");
        } else if !matches!(self.bytes.get(rest), None | Some(b'\n' | b'\r' | b'#')) {
            let end = scan::line_end(self.bytes, rest);
            self.error(Span::new(rest, end), "nothing may follow `...` on its line");
        }
        self.bytes = &self.bytes[..at];
    }

    fn error(&mut self, mut span: Span, message: impl Into<String>) {
        // A span of one byte may stand for a whole character.
        while self.bytes.get(span.end).is_some_and(|b| b & 0xC0 == 0x80) {
            span.end += 1;
        }
        self.errors.push(SyntaxError { span, message: message.into() });
    }

    fn top(&mut self) -> &mut Frame {
        let last = self.stack.len() - 1;
        &mut self.stack[last]
    }

    fn byte(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(b'\n')
    }

    fn skip_blanks(&mut self) {
        while matches!(self.bytes.get(self.pos), Some(b' ' | b'\t')) {
            self.pos += 1;
        }
    }

    /// Whether only a comment or nothing follows on the line.
    fn at_line_end(&self) -> bool {
        match self.byte(self.pos) {
            b'\n' | b'\r' => true,
            b'#' => self.pos == self.line_start || scan::is_space(self.bytes[self.pos - 1]),
            _ => false,
        }
    }

    /// Records the comment at the position and steps behind it.
    fn comment(&mut self, own_line: bool) {
        let end = scan::line_end(self.bytes, self.pos);
        self.comments.push(Comment { span: Span::new(self.pos, end), own_line });
        self.pos = end;
    }

    /// Ends a line whose content has been read.
    fn finish_line(&mut self) {
        self.skip_blanks();
        if self.pos >= self.bytes.len() {
            return;
        }
        if self.byte(self.pos) == b'#' && self.at_line_end() {
            self.comment(false);
        } else if !self.at_line_end() {
            let end = scan::line_end(self.bytes, self.pos);
            self.trailing(end);
            self.key_behind_value();
            self.pos = end;
        }
        self.pos = next_line(self.bytes, self.pos);
    }

    /// Reports text between the end of a value and the end of its line.
    fn trailing(&mut self, end: usize) {
        let span = Span::new(self.pos, end);
        if self.byte(self.pos) == b'#' {
            self.error(span, "a comment needs a space in front of its `#`");
        } else {
            self.error(span, "this text follows a value that has already ended");
        }
    }
}
