//! Finding the ends of lines and tokens.

use memchr::{memchr2, memchr3};

use crate::work;

/// A blank: space or tab.
pub(super) fn is_space(b: u8) -> bool {
    b == b' ' || b == b'\t'
}

/// A blank or a line break.
pub(super) fn is_white(b: u8) -> bool {
    matches!(b, b' ' | b'\t' | b'\n' | b'\r')
}

pub(super) fn is_flow_sign(b: u8) -> bool {
    matches!(b, b',' | b'[' | b']' | b'{' | b'}')
}

/// The offset of the break that ends the line `at` is in.
pub(super) fn line_end(bytes: &[u8], at: usize) -> usize {
    let end = memchr2(b'\n', b'\r', &bytes[at..]).map_or(bytes.len(), |i| at + i);
    work::count(end - at);
    end
}

/// What ends a plain scalar on its line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stop {
    /// A `:` that makes it a key, at this offset.
    Colon(usize),
    /// A comment, or (in flow) a sign.
    Sign,
    /// The end of the line.
    Line,
}

/// Bytes that can end a plain scalar.
const SPECIAL: [bool; 256] = {
    let mut table = [false; 256];
    let signs = b":#\n\r,[]{}";
    let mut i = 0;
    while i < signs.len() {
        table[signs[i] as usize] = true;
        i += 1;
    }
    table
};

/// Reads a plain scalar from `at` to the end of the line at most. Returns the end without trailing blanks.
pub(super) fn plain_line(bytes: &[u8], at: usize, flow: bool) -> (usize, Stop) {
    let mut i = at;
    let stop = loop {
        while i < bytes.len() && !SPECIAL[bytes[i] as usize] {
            i += 1;
        }
        match bytes.get(i) {
            None | Some(b'\n' | b'\r') => break Stop::Line,
            Some(b':') => match bytes.get(i + 1) {
                None => break Stop::Colon(i),
                Some(b) if is_white(*b) || (flow && is_flow_sign(*b)) => break Stop::Colon(i),
                Some(_) => {}
            },
            Some(b'#') if i > at && is_space(bytes[i - 1]) => break Stop::Sign,
            Some(b'#') => {}
            Some(_) if flow => break Stop::Sign,
            Some(_) => {}
        }
        i += 1;
    };
    work::count(i - at);
    let mut end = i;
    while end > at && is_space(bytes[end - 1]) {
        end -= 1;
    }
    (end, stop)
}

/// Spaces at the start of the line at `at`, and the offset of the first byte that is neither space nor tab.
pub(super) fn indentation(bytes: &[u8], at: usize) -> (usize, usize) {
    let mut i = at;
    while bytes.get(i) == Some(&b' ') {
        i += 1;
    }
    let spaces = i - at;
    while i < bytes.len() && is_space(bytes[i]) {
        i += 1;
    }
    work::count(i - at);
    (spaces, i)
}

/// The end of a quoted scalar.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quoted {
    /// Behind the closing quote; for an open one, behind the last text that may belong to it.
    pub(super) end: usize,
    pub(super) closed: bool,
    /// The start of the line the end is in; `None` if that is the line of the opening quote.
    pub(super) line: Option<usize>,
}

/// Reads a quoted scalar that starts at `at`. Its further lines must be indented by more than `indent`; the first
/// that is not ends it unclosed.
pub(super) fn quoted(bytes: &[u8], at: usize, indent: i32) -> Quoted {
    let quoted = find_quoted(bytes, at, indent);
    work::count(quoted.end - at);
    quoted
}

fn find_quoted(bytes: &[u8], at: usize, indent: i32) -> Quoted {
    let quote = bytes[at];
    let mut i = at + 1;
    let mut line = None;
    loop {
        let found = match quote {
            b'"' => next_of_double(bytes, i),
            _ => memchr3(b'\'', b'\n', b'\r', &bytes[i..]).map(|k| i + k),
        };
        let Some(k) = found else {
            return Quoted { end: bytes.len(), closed: false, line };
        };
        match bytes[k] {
            b'\\' => {
                // An escaped break is read as a break.
                i = if matches!(bytes.get(k + 1), None | Some(b'\n' | b'\r')) { k + 1 } else { k + 2 };
            }
            b'\n' | b'\r' => {
                let mut next = crate::split::next_line(bytes, k);
                loop {
                    let (spaces, content) = indentation(bytes, next);
                    match bytes.get(content) {
                        None => return Quoted { end: k, closed: false, line },
                        Some(b'\n' | b'\r') => next = crate::split::next_line(bytes, content),
                        Some(_) if (spaces as i32) <= indent => {
                            return Quoted { end: k, closed: false, line };
                        }
                        Some(_) => {
                            line = Some(next);
                            i = content;
                            break;
                        }
                    }
                }
            }
            _ if quote == b'\'' && bytes.get(k + 1) == Some(&b'\'') => {
                i = k + 2;
            }
            _ => return Quoted { end: k + 1, closed: true, line },
        }
    }
}

fn next_of_double(bytes: &[u8], from: usize) -> Option<usize> {
    bytes[from..].iter().position(|b| matches!(b, b'"' | b'\\' | b'\n' | b'\r')).map(|k| from + k)
}

/// Whether the bytes at `at` are the `:` of a block mapping entry, blanks in front allowed.
pub(super) fn colon_after(bytes: &[u8], mut at: usize) -> Option<usize> {
    while at < bytes.len() && is_space(bytes[at]) {
        at += 1;
    }
    (bytes.get(at) == Some(&b':') && bytes.get(at + 1).is_none_or(|b| is_white(*b))).then_some(at)
}
