//! From the source text of a scalar to its value.

use std::borrow::Cow;

use crate::split::next_line;
use crate::tree::{Chomp, NodeData, UNCLOSED};
use crate::{Style, block_scalar};

/// The decoded value of a scalar.
pub(crate) fn scalar<'t>(text: &'t str, node: &NodeData) -> Cow<'t, str> {
    let source = text.get(node.start as usize..node.end as usize).unwrap_or("");
    match node.style {
        Style::Absent => Cow::Borrowed(""),
        Style::Plain => fold(source),
        Style::SingleQuoted => single(inner(source, node)),
        Style::DoubleQuoted => double(inner(source, node)),
        Style::Literal | Style::Folded => Cow::Owned(block(text, node)),
    }
}

fn inner<'t>(source: &'t str, node: &NodeData) -> &'t str {
    let end = if node.flags & UNCLOSED != 0 { source.len() } else { source.len().saturating_sub(1).max(1) };
    source.get(1..end).unwrap_or("")
}

fn is_break(b: u8) -> bool {
    b == b'\n' || b == b'\r'
}

/// Joins the lines of a flow scalar: one break becomes a space, n + 1 breaks become n.
fn fold(source: &str) -> Cow<'_, str> {
    if !source.bytes().any(is_break) {
        return Cow::Borrowed(source);
    }
    let mut out = String::with_capacity(source.len());
    let mut rest = source;
    loop {
        let Some(i) = rest.find(['\n', '\r']) else {
            out.push_str(rest);
            return Cow::Owned(out);
        };
        out.push_str(rest[..i].trim_end_matches([' ', '\t']));
        rest = skip_breaks(&rest[i..], &mut out);
    }
}

/// Steps over breaks and the blanks around them, and writes what they fold to.
fn skip_breaks<'t>(mut rest: &'t str, out: &mut String) -> &'t str {
    let mut breaks = 0usize;
    loop {
        let line = rest.trim_start_matches([' ', '\t']);
        match line.as_bytes().first() {
            Some(b) if is_break(*b) => {
                rest = &line[next_line(line.as_bytes(), 0)..];
                breaks += 1;
            }
            _ => {
                push_folded(out, breaks);
                return line;
            }
        }
    }
}

fn push_folded(out: &mut String, breaks: usize) {
    match breaks {
        0 => {}
        1 => out.push(' '),
        n => out.extend(std::iter::repeat_n('\n', n - 1)),
    }
}

fn single(source: &str) -> Cow<'_, str> {
    match fold(source) {
        Cow::Borrowed(s) if !s.contains("''") => Cow::Borrowed(s),
        folded => Cow::Owned(folded.replace("''", "'")),
    }
}

fn double(source: &str) -> Cow<'_, str> {
    if !source.bytes().any(|b| b == b'\\' || is_break(b)) {
        return Cow::Borrowed(source);
    }
    let mut out = String::with_capacity(source.len());
    // Blanks behind this length came from escapes and are not trimmed at the end of a line.
    let mut keep = 0;
    let mut rest = source;
    while let Some(i) = rest.find(['\\', '\n', '\r']) {
        out.push_str(&rest[..i]);
        let tail = &rest[i..];
        if let Some(escaped) = tail.strip_prefix('\\') {
            rest = escape(escaped, &mut out);
            keep = out.len();
        } else {
            let end = keep.max(out.trim_end_matches([' ', '\t']).len());
            out.truncate(end);
            rest = skip_breaks(tail, &mut out);
            keep = out.len();
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Decodes one escape; `rest` is the text behind the backslash. An unknown escape stays as it is written.
fn escape<'t>(rest: &'t str, out: &mut String) -> &'t str {
    let Some(c) = rest.chars().next() else {
        out.push('\\');
        return rest;
    };
    let tail = &rest[c.len_utf8()..];
    let plain = match c {
        '0' => '\0',
        'a' => '\u{7}',
        'b' => '\u{8}',
        't' | '\t' => '\t',
        'n' => '\n',
        'v' => '\u{b}',
        'f' => '\u{c}',
        'r' => '\r',
        'e' => '\u{1b}',
        ' ' | '"' | '/' | '\\' => c,
        'N' => '\u{85}',
        '_' => '\u{a0}',
        'L' => '\u{2028}',
        'P' => '\u{2029}',
        'x' => return hex(tail, 2, c, out),
        'u' => return hex(tail, 4, c, out),
        'U' => return hex(tail, 8, c, out),
        '\n' | '\r' => {
            // The break itself is dropped; empty lines behind it still count.
            let after = &rest[next_line(rest.as_bytes(), 0)..];
            return skip_after_escaped_break(after, out);
        }
        other => {
            out.push('\\');
            other
        }
    };
    out.push(plain);
    tail
}

fn skip_after_escaped_break<'t>(mut rest: &'t str, out: &mut String) -> &'t str {
    loop {
        let line = rest.trim_start_matches([' ', '\t']);
        match line.as_bytes().first() {
            Some(b) if is_break(*b) => {
                out.push('\n');
                rest = &line[next_line(line.as_bytes(), 0)..];
            }
            _ => return line,
        }
    }
}

fn hex<'t>(tail: &'t str, digits: usize, letter: char, out: &mut String) -> &'t str {
    let decoded = tail
        .get(..digits)
        .filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()))
        .and_then(|d| u32::from_str_radix(d, 16).ok())
        .and_then(char::from_u32);
    match decoded {
        Some(c) => {
            out.push(c);
            &tail[digits..]
        }
        None => {
            out.push('\\');
            out.push(letter);
            tail
        }
    }
}

fn block(text: &str, node: &NodeData) -> String {
    let mut out = String::with_capacity((node.end.saturating_sub(node.first)) as usize);
    let folded = node.style == Style::Folded;
    let mut pending_break = false;
    let mut empty = 0usize;
    let mut after_blank = false;
    for line in block_scalar::lines(text, node) {
        let content = line.slice(text);
        if content.is_empty() {
            empty += 1;
            continue;
        }
        let blank = content.starts_with([' ', '\t']);
        if folded && pending_break && !after_blank && !blank {
            if empty == 0 {
                out.push(' ');
            }
        } else if pending_break {
            out.push('\n');
        }
        out.extend(std::iter::repeat_n('\n', empty));
        empty = 0;
        after_blank = blank;
        out.push_str(content);
        pending_break = true;
    }
    let (closing_break, trailing) = block_scalar::tail(text, node);
    match node.chomp {
        Chomp::Strip => {}
        Chomp::Clip if pending_break && closing_break => out.push('\n'),
        Chomp::Clip => {}
        Chomp::Keep => {
            if pending_break && closing_break {
                out.push('\n');
            }
            out.extend(std::iter::repeat_n('\n', trailing));
        }
    }
    out
}
