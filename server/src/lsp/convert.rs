//! Positions, ranges and names between bytes and the protocol. The only place that counts UTF-16.

use crate::ide::{Delta, Span, TextEdit};
use ropey::Rope;
use ropey::str_utils::{byte_to_line_idx, line_to_byte_idx};
use std::path::PathBuf;
use tower_lsp::lsp_types::{self as lsp, Position, PositionEncodingKind, Range, TextDocumentContentChangeEvent, Url};

/// What a client counts `character` in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Encoding {
    /// Bytes of UTF-8, which costs no counting.
    Utf8,
    /// UTF-16 code units: what every client knows.
    #[default]
    Utf16,
}

impl Encoding {
    /// Bytes if the client offers them: no counting then.
    pub(super) fn negotiate(offered: Option<&[PositionEncodingKind]>) -> Self {
        match offered {
            Some(kinds) if kinds.contains(&PositionEncodingKind::UTF8) => Self::Utf8,
            _ => Self::Utf16,
        }
    }

    /// Its name in the protocol.
    pub(super) fn kind(self) -> PositionEncodingKind {
        match self {
            Self::Utf8 => PositionEncodingKind::UTF8,
            Self::Utf16 => PositionEncodingKind::UTF16,
        }
    }
}

/// The byte offset of `position`. Past the end of a line or of the text it is that end; inside a character it is the
/// character's start.
pub(super) fn offset(rope: &Rope, position: Position, encoding: Encoding) -> usize {
    let line = position.line as usize;
    if line >= rope.len_lines() {
        return rope.len_bytes();
    }
    // Mostly a line lies in one piece of text: then one look at the rope is enough.
    let (piece, before, _, lines) = rope.chunk_at_line_break(line);
    let start = line_to_byte_idx(piece, line - lines);
    if let Some(length) = piece[start..].find(['\n', '\r']) {
        return before + start + within(&piece[start..start + length], position.character as usize, encoding);
    }
    let start = rope.line_to_char(line);
    let text = rope.line(line);
    let mut length = text.len_chars();
    while length > 0 && matches!(text.char(length - 1), '\n' | '\r') {
        length -= 1;
    }
    let wanted = position.character as usize;
    let column = match encoding {
        Encoding::Utf8 => text.byte_to_char(wanted.min(text.char_to_byte(length))),
        Encoding::Utf16 => text.utf16_cu_to_char(wanted.min(text.char_to_utf16_cu(length))),
    };
    rope.char_to_byte(start + column)
}

/// The offset of the character of `line` in which unit `wanted` lies; past the end it is the end.
fn within(line: &str, wanted: usize, encoding: Encoding) -> usize {
    let mut units = 0;
    for (at, character) in line.char_indices() {
        units += match encoding {
            Encoding::Utf8 => character.len_utf8(),
            Encoding::Utf16 => character.len_utf16(),
        };
        if units > wanted {
            return at;
        }
    }
    line.len()
}

/// The position of a byte offset; an offset past the end is the end.
pub(super) fn position(rope: &Rope, offset: usize, encoding: Encoding) -> Position {
    let offset = offset.min(rope.len_bytes());
    // Mostly the line begins in the piece of text in which the offset lies: then one look at the rope is enough.
    let (piece, before, _, lines) = rope.chunk_at_byte(offset);
    let line = byte_to_line_idx(piece, offset - before);
    if line > 0 || before == 0 {
        let text = &piece[line_to_byte_idx(piece, line)..offset - before];
        let character = match encoding {
            Encoding::Utf8 => text.len(),
            Encoding::Utf16 => text.chars().map(char::len_utf16).sum(),
        };
        return Position { line: narrow(lines + line), character: narrow(character) };
    }
    let line = rope.byte_to_line(offset);
    let character = match encoding {
        Encoding::Utf8 => offset - rope.line_to_byte(line),
        Encoding::Utf16 => {
            let (start, end) = (rope.line_to_char(line), rope.byte_to_char(offset));
            rope.char_to_utf16_cu(end) - rope.char_to_utf16_cu(start)
        }
    };
    Position { line: narrow(line), character: narrow(character) }
}

/// The range of a span.
pub(super) fn range(rope: &Rope, span: Span, encoding: Encoding) -> Range {
    Range { start: position(rope, span.start, encoding), end: position(rope, span.end, encoding) }
}

/// The span of a range. The two ends of a reversed range are exchanged.
pub(super) fn span(rope: &Rope, range: Range, encoding: Encoding) -> Span {
    let (start, end) = (offset(rope, range.start, encoding), offset(rope, range.end, encoding));
    Span { start: start.min(end), end: start.max(end) }
}

/// A text edit as the protocol wants it.
pub(super) fn text_edit(rope: &Rope, edit: &TextEdit, encoding: Encoding) -> lsp::TextEdit {
    lsp::TextEdit { range: range(rope, edit.span, encoding), new_text: edit.new_text.clone() }
}

/// Applies a client's changes, one after the other, each to the result of the one before. Returns what they changed
/// together; `None` if there were none.
pub(super) fn apply(
    rope: &mut Rope,
    changes: Vec<TextDocumentContentChangeEvent>,
    encoding: Encoding,
) -> Option<Delta> {
    let mut all: Option<Delta> = None;
    for change in changes {
        let old = match change.range {
            Some(range) => {
                let span = span(rope, range, encoding);
                let (start, end) = (rope.byte_to_char(span.start), rope.byte_to_char(span.end));
                rope.remove(start..end);
                rope.insert(start, &change.text);
                span
            }
            None => {
                let whole = Span::new(0, rope.len_bytes());
                *rope = Rope::from_str(&change.text);
                whole
            }
        };
        let delta = Delta::replaced(old, change.text.len());
        all = Some(all.map_or(delta, |before| before.then(delta)));
    }
    all
}

/// The local file a URI names, if it names one.
pub(super) fn file_path(uri: &Url) -> Option<PathBuf> {
    if uri.scheme() == "file" { uri.to_file_path().ok() } else { None }
}

/// One name per file, however a client spells its URI: percent-encoding and the case of a drive letter do not count.
/// Symbolic links are not resolved: what a client calls two files are two files.
pub(super) fn name(uri: &Url) -> String {
    let Some(canonical) = file_path(uri).and_then(|path| Url::from_file_path(path).ok()) else {
        return uri.to_string();
    };
    let mut name = canonical.to_string();
    let drive = "file:///".len();
    if matches!(name.as_bytes().get(drive..drive + 3), Some([letter, b':', b'/']) if letter.is_ascii_alphabetic()) {
        name[drive..=drive].make_ascii_lowercase();
    }
    name
}

/// A count for the protocol, which ends at 2³¹ - 1.
fn narrow(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX).min(i32::MAX as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(line: u32, character: u32) -> Position {
        Position { line, character }
    }

    fn change(range: Option<Range>, text: &str) -> TextDocumentContentChangeEvent {
        TextDocumentContentChangeEvent { range, range_length: None, text: text.to_owned() }
    }

    #[test]
    fn surrogate_pairs_are_two_units_and_four_bytes() {
        let rope = Rope::from_str("a: \u{1F999} b\r\nc: é\n");
        assert_eq!(offset(&rope, at(0, 5), Encoding::Utf16), 7);
        assert_eq!(offset(&rope, at(0, 4), Encoding::Utf16), 3, "inside the pair");
        assert_eq!(offset(&rope, at(0, 7), Encoding::Utf8), 7);
        assert_eq!(offset(&rope, at(0, 5), Encoding::Utf8), 3, "inside the character");
        assert_eq!(position(&rope, 7, Encoding::Utf16), at(0, 5));
        assert_eq!(position(&rope, 7, Encoding::Utf8), at(0, 7));
    }

    #[test]
    fn positions_outside_are_clamped() {
        let rope = Rope::from_str("ab\r\ncd");
        for encoding in [Encoding::Utf8, Encoding::Utf16] {
            assert_eq!(offset(&rope, at(0, 99), encoding), 2, "before the line's end");
            assert_eq!(offset(&rope, at(1, 99), encoding), 6);
            assert_eq!(offset(&rope, at(99, 0), encoding), 6);
            assert_eq!(offset(&rope, at(u32::MAX, u32::MAX), encoding), 6);
            assert_eq!(position(&rope, 99, encoding), at(1, 2));
        }
    }

    #[test]
    fn only_the_protocols_line_ends_count() {
        let rope = Rope::from_str("a\rb\u{2028}c\u{85}d\ne");
        assert_eq!(position(&rope, rope.len_bytes(), Encoding::Utf16), at(2, 1));
    }

    #[test]
    fn changes_apply_one_after_the_other() {
        let mut rope = Rope::from_str("name: a\n");
        let insert = |line, character| Some(Range { start: at(line, character), end: at(line, character) });
        let changes = vec![change(insert(0, 7), "b\n"), change(insert(1, 0), "\u{1F999}"), change(insert(1, 2), "x")];
        apply(&mut rope, changes, Encoding::Utf16);
        assert_eq!(rope.to_string(), "name: ab\n\u{1F999}x\n");
        let reversed = Range { start: at(1, 3), end: at(0, 0) };
        apply(&mut rope, vec![change(Some(reversed), "")], Encoding::Utf16);
        assert_eq!(rope.to_string(), "\n");
        apply(&mut rope, vec![change(None, "new")], Encoding::Utf16);
        assert_eq!(rope.to_string(), "new");
    }

    #[test]
    fn one_file_has_one_name() {
        let name_of = |uri: &str| name(&Url::parse(uri).unwrap());
        for (one, other) in [
            ("file:///a/b%20c.yaml", "file:///a/b c.yaml"),
            ("file:///a/%62.yaml", "file:///a/b.yaml"),
            ("file:///C:/a.yaml", "file:///c%3A/a.yaml"),
            ("file:///a/x/../b.yaml", "file:///a/b.yaml"),
            ("file://localhost/a.yaml", "file:///a.yaml"),
            ("file:///\u{e9}.yaml", "file:///%C3%A9.yaml"),
        ] {
            assert_eq!(name_of(one), name_of(other));
        }
        assert_ne!(name_of("file:///a.yaml"), name_of("file:///A.yaml"));
        assert_eq!(name_of("untitled:Untitled-1"), "untitled:Untitled-1");
    }

    proptest! {
        #[test]
        fn a_position_leads_back_to_its_offset(text in "[a-zé\u{1F999}\u{2028}\r\n]{0,40}") {
            let rope = Rope::from_str(&text);
            for encoding in [Encoding::Utf8, Encoding::Utf16] {
                for (byte, _) in text.char_indices().chain([(text.len(), ' ')]) {
                    // Between \r and \n there is no position.
                    if byte > 0 && text[..byte].ends_with('\r') && text[byte..].starts_with('\n') {
                        continue;
                    }
                    prop_assert_eq!(offset(&rope, position(&rope, byte, encoding), encoding), byte);
                }
            }
        }

        /// Texts of many pieces, with lines longer than a piece, and none of it at the borders of pieces.
        #[test]
        fn positions_in_a_long_text_are_counted_right(
            lines in prop::collection::vec(("[a-zé\u{1F999}]{0,9}", 1_usize..400, "\n|\r|\r\n"), 1..40),
            wanted in prop::collection::vec(any::<prop::sample::Index>(), 20),
        ) {
            let lines: Vec<_> = lines.into_iter().map(|(word, times, end)| (word.repeat(times), end)).collect();
            let text: String = lines.iter().flat_map(|(line, end)| [line.as_str(), end.as_str()]).collect();
            let rope = Rope::from_str(&text);
            for wanted in wanted {
                let number = wanted.index(lines.len());
                // An \r in front of an \n makes one line end of two.
                let start: usize = lines[..number].iter().map(|(line, end)| line.len() + end.len()).sum();
                let line = Rope::from_str(&text[..start]).len_lines() - 1;
                if text[..start].ends_with('\r') && text[start..].starts_with('\n') {
                    continue;
                }
                let content = &lines[number].0;
                let inside = wanted.index(content.chars().count() + 1);
                let before: String = content.chars().take(inside).collect();
                let units = before.encode_utf16().count();
                for (encoding, character) in [(Encoding::Utf8, before.len()), (Encoding::Utf16, units)] {
                    let there = at(line as u32, character as u32);
                    prop_assert_eq!(position(&rope, start + before.len(), encoding), there);
                    prop_assert_eq!(offset(&rope, there, encoding), start + before.len());
                }
                prop_assert_eq!(offset(&rope, at(line as u32, u32::MAX), Encoding::Utf16), start + content.len());
            }
        }

        #[test]
        fn edits_agree_with_a_plain_string(
            text in "[a-zé\u{1F999}\r\n]{0,40}",
            edits in prop::collection::vec((0_u32..6, 0_u32..12, 0_u32..6, 0_u32..12, "[a-z\u{1F999}\n]{0,5}"), 0..8),
        ) {
            let mut rope = Rope::from_str(&text);
            let mut plain = text;
            for (line, character, last_line, last_character, new) in edits {
                let range = Range { start: at(line, character), end: at(last_line, last_character) };
                let place = span(&rope, range, Encoding::Utf16);
                plain.replace_range(place.start..place.end, &new);
                let delta = apply(&mut rope, vec![change(Some(range), &new)], Encoding::Utf16);
                prop_assert_eq!(delta, Some(Delta::replaced(place, new.len())));
                prop_assert_eq!(&rope.to_string(), &plain);
            }
        }
    }
}
