//! Writing a text as a scalar.

use std::borrow::Cow;
use std::fmt::Write;

use crate::{Resolved, Rules, resolve_plain};

/// The text as YAML: plain where every reader (YAML 1.1 and 1.2, block and flow style, key and value) takes it as this
/// text, else in double quotes on one line.
pub fn quote_scalar(text: &str) -> Cow<'_, str> {
    if is_plain_safe(text) { Cow::Borrowed(text) } else { Cow::Owned(double_quoted(text)) }
}

fn is_plain_safe(text: &str) -> bool {
    let Some(first) = text.chars().next() else { return false };
    let starts_well = first.is_alphanumeric() || matches!(first, '_' | '/' | '.' | '(' | '$' | '+' | '^' | '<');
    let dash = first == '-' && text.len() > 1 && !text.starts_with("- ") && !text.starts_with("---");
    if !(starts_well || dash) || text.ends_with([' ', ':']) || text == "<<" || text.starts_with("...") {
        return false;
    }
    let mut before = 'x';
    for c in text.chars() {
        let fits = match c {
            ',' | '[' | ']' | '{' | '}' | '"' | '`' | '\u{feff}' | '\u{2028}' | '\u{2029}' | '\u{85}' => false,
            ' ' => before != ':',
            '#' | '-' | '?' | ':' => before != ' ',
            c => !c.is_control(),
        };
        if !fits {
            return false;
        }
        before = c;
    }
    let is_text = |rules| resolve_plain(text, rules) == Resolved::Str;
    is_text(Rules::Kubernetes) && is_text(Rules::PyYaml) && is_text(Rules::Core) && !looks_dated(text)
}

/// Texts that YAML 1.1 reads as dates or numbers to the base 60, or that are close to numbers.
fn looks_dated(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.'))
        && text.chars().all(|c| c.is_ascii_digit() || matches!(c, '-' | ':' | '.' | '_' | '+' | 'T' | 't' | 'Z' | ' '))
}

fn double_quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\u{feff}' | '\u{2028}' | '\u{2029}' | '\u{85}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
