//! The judge of well-formedness: yaml-rust2.

use yaml_rust2::Event;
use yaml_rust2::parser::Parser;
use yaml_rust2::scanner::ScanError;

use crate::split::is_marker;
use crate::{Span, SyntaxError};

/// Collections inside each other that are still accepted: users write some twenty, and callers may walk the tree by
/// calling themselves.
const MAX_DEPTH: usize = 512;

/// What yaml-rust2 has against the text. Events are pulled one by one, so depth costs no stack.
///
/// A byte order mark may stand in front of each document, also behind its `---`. yaml-rust2 takes that one for text, so
/// that it is shown what stands around the mark.
pub(crate) fn judge(text: &str) -> Option<SyntaxError> {
    let Some(mark) = mark_behind_separator(text) else { return judge_bare(text) };
    let length = '\u{feff}'.len_utf8();
    let error = judge_bare(&[&text[..mark], &text[mark + length..]].concat())?;
    let moved = |offset: usize| if offset < mark { offset } else { offset + length };
    Some(SyntaxError { span: Span::new(moved(error.span.start), moved(error.span.end)), ..error })
}

/// Where a byte order mark stands at the start of the line behind a `---` that has nothing else on its line.
fn mark_behind_separator(text: &str) -> Option<usize> {
    let (bytes, mark) = (text.as_bytes(), text.find("\n\u{feff}").or_else(|| text.find("\r\u{feff}"))? + 1);
    let before = text[..mark].trim_end_matches(['\n', '\r']);
    let line = before.rfind(['\n', '\r']).map_or(0, |at| at + 1);
    let rest = before.get(line + 3..)?.trim_start();
    let breaks = &text[before.len()..mark];
    let next = matches!(breaks, "\n" | "\r" | "\r\n");
    (next && is_marker(bytes, line, b"---") && (rest.is_empty() || rest.starts_with('#'))).then_some(mark)
}

fn judge_bare(text: &str) -> Option<SyntaxError> {
    let text_without_mark = text.strip_prefix('\u{feff}').unwrap_or(text);
    let shift = text.len() - text_without_mark.len();
    let mut parser = Parser::new_from_str(text_without_mark);
    let mut depth = 0usize;
    loop {
        match parser.next_token() {
            Ok((Event::StreamEnd, _)) => return None,
            Ok((Event::MappingStart(..) | Event::SequenceStart(..), marker)) => {
                depth += 1;
                if depth > MAX_DEPTH {
                    let at = shift + offset_of(text_without_mark, marker.line(), marker.col());
                    let message = format!("more than {MAX_DEPTH} collections are nested in each other here");
                    return Some(SyntaxError { span: Span::empty(at), message });
                }
            }
            Ok((Event::MappingEnd | Event::SequenceEnd, _)) => depth = depth.saturating_sub(1),
            Ok(_) => {}
            Err(error) => return Some(convert(text_without_mark, shift, &error)),
        }
    }
}

fn convert(text: &str, shift: usize, error: &ScanError) -> SyntaxError {
    let at = shift + offset_of(text, error.marker().line(), error.marker().col());
    SyntaxError { span: Span::empty(at), message: format!("not well-formed YAML: {}", error.info()) }
}

/// Byte offset of a 1-based line and a 0-based column in characters, clamped to the text.
fn offset_of(text: &str, line: usize, column: usize) -> usize {
    let bytes = text.as_bytes();
    let mut start = 0;
    for _ in 1..line {
        start = crate::split::next_line(bytes, start);
    }
    let rest = &text[start..];
    let mut end = rest.find(['\n', '\r']).unwrap_or(rest.len());
    if let Some((i, _)) = rest[..end].char_indices().nth(column) {
        end = i;
    }
    start + end
}
