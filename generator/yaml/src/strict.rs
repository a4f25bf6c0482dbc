//! The judge of well-formedness: yaml-rust2.

use yaml_rust2::Event;
use yaml_rust2::parser::Parser;
use yaml_rust2::scanner::ScanError;

use crate::{Span, SyntaxError};

/// Collections inside each other that are still accepted.
const MAX_DEPTH: usize = 512;

/// What yaml-rust2 has against the text. Events are pulled one by one, so depth costs no stack.
pub(crate) fn judge(text: &str) -> Option<SyntaxError> {
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
