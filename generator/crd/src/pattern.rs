//! Regular expressions with the meaning that Go gives them.
//!
//! Both engines are of the RE2 family, but Go's `\d \w \s \b` are ASCII, it knows `\Q…\E` and octal escapes, takes a
//! lone `{` for itself, and has no set operations inside brackets. A pattern is rewritten, not reinterpreted: what
//! cannot be rewritten does not compile, and the caller says so.

use regex::Regex;
use std::sync::OnceLock;

/// A pattern that compiles when it is first needed.
#[derive(Debug)]
pub(crate) struct Pattern {
    /// As written in the schema.
    pub(crate) source: String,
    compiled: OnceLock<Option<Regex>>,
}

impl Pattern {
    pub(crate) fn new(source: &str) -> Self {
        Self { source: source.to_owned(), compiled: OnceLock::new() }
    }

    /// The compiled pattern; `None` if it does not compile here.
    pub(crate) fn regex(&self) -> Option<&Regex> {
        self.compiled.get_or_init(|| compile(&self.source)).as_ref()
    }
}

/// Compiles a Go pattern; `None` if it cannot be expressed.
pub(crate) fn compile(pattern: &str) -> Option<Regex> {
    Regex::new(&translate(pattern)?).ok()
}

fn translate(pattern: &str) -> Option<String> {
    let chars: Vec<char> = pattern.chars().collect();
    let mut out = String::with_capacity(pattern.len() + 16);
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        match c {
            '\\' => at = escape(&chars, at, &mut out, false)?,
            '[' => at = class(&chars, at, &mut out)?,
            '{' if !is_repetition(&chars[at..]) => {
                out.push_str("\\{");
                at += 1;
            }
            _ => {
                out.push(c);
                at += 1;
            }
        }
    }
    Some(out)
}

/// `{2}`, `{2,}` or `{2,5}`; anything else is literal in Go.
fn is_repetition(rest: &[char]) -> bool {
    let Some(close) = rest.iter().position(|c| *c == '}') else { return false };
    let inside: String = rest[1..close].iter().collect();
    let mut parts = inside.splitn(2, ',');
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    parts.next().is_some_and(digits) && parts.next().is_none_or(|max| max.is_empty() || digits(max))
}

/// Rewrites the escape that starts at `at`; answers the position behind it.
fn escape(chars: &[char], at: usize, out: &mut String, in_class: bool) -> Option<usize> {
    let c = *chars.get(at + 1)?;
    let mut next = at + 2;
    match c {
        'd' => out.push_str("[0-9]"),
        'D' => out.push_str("[^0-9]"),
        'w' => out.push_str("[0-9A-Za-z_]"),
        'W' => out.push_str("[^0-9A-Za-z_]"),
        's' => out.push_str("[\\t\\n\\x0C\\r ]"),
        'S' => out.push_str("[^\\t\\n\\x0C\\r ]"),
        'b' if !in_class => out.push_str("(?-u:\\b)"),
        'B' if !in_class => out.push_str("(?-u:\\B)"),
        'A' | 'z' if !in_class => {
            out.push('\\');
            out.push(c);
        }
        'Q' if !in_class => {
            while let Some(&c) = chars.get(next) {
                if c == '\\' && chars.get(next + 1) == Some(&'E') {
                    return Some(next + 2);
                }
                literal(c, out);
                next += 1;
            }
        }
        'E' if !in_class => {}
        'p' | 'P' => {
            out.push('\\');
            out.push(c);
            if chars.get(next) == Some(&'{') {
                while let Some(&c) = chars.get(next) {
                    out.push(c);
                    next += 1;
                    if c == '}' {
                        break;
                    }
                }
            } else {
                out.push(*chars.get(next)?);
                next += 1;
            }
        }
        _ => {
            let (code, behind) = escaped_char(chars, at)?;
            literal(code, out);
            next = behind;
        }
    }
    Some(next)
}

/// The character that the escape at `at` stands for, and the position behind it.
fn escaped_char(chars: &[char], at: usize) -> Option<(char, usize)> {
    let c = *chars.get(at + 1)?;
    let simple = |c: char| Some((c, at + 2));
    match c {
        'a' => simple('\u{7}'),
        'f' => simple('\u{c}'),
        'n' => simple('\n'),
        'r' => simple('\r'),
        't' => simple('\t'),
        'v' => simple('\u{b}'),
        '0'..='7' => {
            let octal = chars[at + 1..].iter().take(3).take_while(|c| ('0'..='7').contains(*c)).count();
            if c != '0' && octal == 1 {
                return None;
            }
            let digits: String = chars[at + 1..at + 1 + octal].iter().collect();
            Some((char::from_u32(u32::from_str_radix(&digits, 8).ok()?)?, at + 1 + octal))
        }
        'x' => {
            let (digits, behind): (String, usize) = if chars.get(at + 2) == Some(&'{') {
                let close = chars[at..].iter().position(|c| *c == '}')? + at;
                (chars[at + 3..close].iter().collect(), close + 1)
            } else {
                (chars.get(at + 2..at + 4)?.iter().collect(), at + 4)
            };
            Some((char::from_u32(u32::from_str_radix(&digits, 16).ok()?)?, behind))
        }
        c if c.is_ascii_punctuation() => simple(c),
        _ => None,
    }
}

fn literal(c: char, out: &mut String) {
    if c.is_ascii_alphanumeric() || c == '_' || !c.is_ascii() {
        out.push(c);
    } else {
        out.push_str(&format!("\\x{{{:X}}}", u32::from(c)));
    }
}

/// Rewrites the bracket expression that starts at `at`; answers the position behind it.
fn class(chars: &[char], at: usize, out: &mut String) -> Option<usize> {
    let mut next = at + 1;
    out.push('[');
    if chars.get(next) == Some(&'^') {
        out.push('^');
        next += 1;
    }
    let first = next;
    loop {
        let c = *chars.get(next)?;
        if c == ']' && next > first {
            out.push(']');
            return Some(next + 1);
        }
        if c == '[' && chars.get(next + 1) == Some(&':') {
            let close = chars[next..].iter().position(|c| *c == ']')? + next;
            out.extend(&chars[next..=close]);
            next = close + 1;
            continue;
        }
        if c == '\\' && matches!(chars.get(next + 1), Some('d' | 'D' | 'w' | 'W' | 's' | 'S' | 'p' | 'P')) {
            next = escape(chars, next, out, true)?;
            continue;
        }
        next = class_char(chars, next, out)?;
        if chars.get(next) == Some(&'-') && chars.get(next + 1).is_some_and(|c| *c != ']') {
            out.push('-');
            next = class_char(chars, next + 1, out)?;
        }
    }
}

fn class_char(chars: &[char], at: usize, out: &mut String) -> Option<usize> {
    match *chars.get(at)? {
        '\\' => {
            let (c, behind) = escaped_char(chars, at)?;
            literal(c, out);
            Some(behind)
        }
        c => {
            literal(c, out);
            Some(at + 1)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::compile;

    #[test]
    fn reads_patterns_as_go_does() {
        for (pattern, text, expected) in [
            (r"^\d$", "٣", false),
            (r"^\w+$", "é", false),
            (r"^\s$", "\u{a0}", false),
            (r"\be", "ée", true),
            (r"\Be", "ée", false),
            (r"^\Qa.b\E$", "a.b", true),
            (r"^\Qa.b\E$", "axb", false),
            (r"^a{$", "a{", true),
            (r"^a{,2}$", "a{,2}", true),
            (r"^a{1,2}$", "aa", true),
            (r"^[[a]+$", "[a", true),
            (r"^[a&&b]$", "&", true),
            (r"^[]a]$", "]", true),
            (r"^[\d-]+$", "1-2", true),
            (r"^[^\d]$", "٣", true),
            (r"^[[:alpha:]]+\z", "abc", true),
            (r"^.$", "é", true),
            (r"\<x", "<x", true),
            (r"^\101$", "A", true),
            (r"^[!--]$", "-", true),
        ] {
            assert_eq!(compile(pattern).map(|re| re.is_match(text)), Some(expected), "{pattern} on {text}");
        }
        assert!(compile("(").is_none());
        assert!(compile(r"(?=a)").is_none());
    }
}
