//! Writing a text as a scalar.

use std::borrow::Cow;
use std::fmt::Write;

use crate::{Resolved, Rules, resolve_plain};

/// Where a scalar stands: flow style has more characters of its own.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Anywhere,
    Block,
}

/// The text as YAML: plain where every reader (YAML 1.1 and 1.2, block and flow style, key and value) takes it as this
/// text, else in double quotes on one line.
#[must_use]
pub fn quote_scalar(text: &str) -> Cow<'_, str> {
    written(text, Place::Anywhere)
}

/// As [`quote_scalar`], for a key or value in block style, where brackets, braces and commas are part of a plain text.
#[must_use]
pub fn quote_block_scalar(text: &str) -> Cow<'_, str> {
    written(text, Place::Block)
}

/// Whether a character may stand in a line as it is, for PyYAML and for YAML 1.2.
#[must_use]
pub fn is_printable(char: char) -> bool {
    matches!(char, '\t' | ' '..='~' | '\u{a0}'..='\u{2027}' | '\u{202a}'..='\u{d7ff}' | '\u{e000}'..='\u{fefe}'
        | '\u{ff00}'..='\u{fffd}' | '\u{10000}'..)
}

fn written(text: &str, place: Place) -> Cow<'_, str> {
    if is_plain_safe(text, place) { Cow::Borrowed(text) } else { Cow::Owned(double_quoted(text)) }
}

fn is_plain_safe(text: &str, place: Place) -> bool {
    let Some(first) = text.chars().next() else { return false };
    let starts_well = first.is_alphanumeric() || matches!(first, '_' | '/' | '.' | '(' | '$' | '+' | '^' | '<' | '~');
    let dash = first == '-' && text.len() > 1 && !text.starts_with("- ") && !text.starts_with("---");
    if !(starts_well || dash) || text.ends_with([' ', ':']) || text == "<<" || text.starts_with("...") {
        return false;
    }
    let mut before = 'x';
    for c in text.chars() {
        let fits = match c {
            ',' | '[' | ']' | '{' | '}' | '"' | '`' => place == Place::Block,
            ' ' => before != ':',
            '-' | '?' | ':' => place == Place::Block || before != ' ',
            '#' => before != ' ',
            c => c != '\t' && is_printable(c),
        };
        if !fits {
            return false;
        }
        before = c;
    }
    let is_text = |rules| resolve_plain(text, rules) == Resolved::Str;
    is_text(Rules::Kubernetes) && is_text(Rules::PyYaml) && is_text(Rules::Core) && !looks_dated(text)
}

/// Texts that YAML 1.1 reads as dates or numbers to the base 60, or that are close to numbers. Two points make neither.
fn looks_dated(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.'))
        && text.chars().all(|c| c.is_ascii_digit() || matches!(c, '-' | ':' | '.' | '_' | '+' | 'T' | 't' | 'Z' | ' '))
        && text.matches('.').count() < 2
}

fn double_quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for char in text.chars() {
        // Writing into a String does not fail.
        let _ = match char {
            '"' => out.write_str("\\\""),
            '\\' => out.write_str("\\\\"),
            '\n' => out.write_str("\\n"),
            '\t' => out.write_str("\\t"),
            '\r' => out.write_str("\\r"),
            char if is_printable(char) => out.write_char(char),
            char if u32::from(char) <= 0xff => write!(out, "\\x{:02X}", u32::from(char)),
            char => write!(out, "\\u{:04X}", u32::from(char)),
        };
    }
    out.push('"');
    out
}
