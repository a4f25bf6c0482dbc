//! What YAML allows and `kubectl` does not read: it cuts a file at lines that begin with `---` before any reader of YAML
//! sees it, and its reader is one of YAML 1.1. Each rule was tried with `kubectl`.

use super::Span;
use super::types::{CodeFix, TextEdit};
use llsd_generator::check::Rule;
use llsd_generator::check::rules::yaml::{CONTROL_CHARACTER, DIRECTIVE, SEPARATOR, UNREAD};

/// Findings of each kind in one document at most: nobody mends more at a time.
const MOST: usize = 20;

/// One thing that `kubectl` refuses.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) rule: &'static Rule,
    pub(crate) span: Span,
    pub(crate) message: String,
    pub(crate) fix: Option<CodeFix>,
}

/// Whether `kubectl` reads nothing of a document: it takes what stands between two lines `---` for one document, and of
/// that the part in front of `...` only. `before` is the text of the document in front.
pub(crate) fn is_dropped(before: &str, text: &str) -> bool {
    let ended =
        before.trim_end().lines().rev().find(|line| !line.trim_start().starts_with('#') && !line.trim().is_empty());
    let mut content = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with(['#', '%']));
    ended.is_some_and(|line| line.starts_with("..."))
        && !content.next().is_some_and(|line| line.trim_start_matches('\u{feff}').starts_with("---"))
}

/// What to say of a document that [is dropped](is_dropped).
pub(crate) fn dropped(text: &str) -> Fault {
    let at = text.len() - text.trim_start().len();
    let line = text[at..].lines().next().unwrap_or_default();
    let edits = vec![TextEdit { span: Span::new(0, 0), new_text: "---\n".to_owned() }];
    Fault {
        rule: &UNREAD,
        span: Span::new(at, at + line.trim_end().len()),
        message: "kubectl reads nothing between `...` and the next `---`: this document is left out".to_owned(),
        fix: Some(CodeFix { title: "Begin the document with `---`".to_owned(), edits, preferred: true }),
    }
}

/// Everything about the text of one document, in no order. `is_comment` tells whether an offset lies in a comment.
pub(crate) fn faults(text: &str, is_comment: &dyn Fn(usize) -> bool) -> Vec<Fault> {
    let mut found = directives(text);
    found.extend(separators(text));
    found.extend(characters(text, is_comment));
    found
}

/// Lines in front of `---` that begin with `%`.
fn directives(text: &str) -> Vec<Fault> {
    let mut found = Vec::new();
    let mut at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    for line in text[at..].split_inclusive('\n') {
        let content = line.trim_end();
        if content.starts_with('%') && found.len() < MOST {
            let span = Span::new(at, at + content.len());
            let message = "kubectl refuses directives: they end up in a document of their own, as it cuts the file at \
                           `---` first";
            let edits = vec![TextEdit { span: Span::new(at, at + line.len()), new_text: String::new() }];
            let title = "Remove the directive".to_owned();
            // A tag that is declared may be used below.
            let preferred = content.starts_with("%YAML");
            let fix = Some(CodeFix { title, edits, preferred });
            found.push(Fault { rule: &DIRECTIVE, span, message: message.to_owned(), fix });
        } else if !content.is_empty() && !content.trim_start().starts_with('#') {
            break;
        }
        at += line.len();
    }
    found
}

/// Lines that begin with `---` and go on with something else than a comment.
fn separators(text: &str) -> Vec<Fault> {
    let behind_break = text.match_indices("\n---").map(|(at, _)| at + 1);
    let first = text.starts_with("---").then_some(0);
    let fault = |start: usize| {
        let line = text[start + 3..].split('\n').next().unwrap_or_default();
        let rest = line.trim();
        if rest.is_empty() || rest.starts_with('#') {
            return None;
        }
        let from = start + 3 + (line.len() - line.trim_start().len());
        let span = Span::new(from, from + rest.len());
        let marker = line.starts_with([' ', '\t']);
        let message = if marker {
            "kubectl refuses text behind `---`: what follows begins on the next line"
        } else {
            "kubectl takes every line that begins with `---` for a separator, and refuses this one"
        };
        let broken = TextEdit { span: Span::new(start + 3, from), new_text: "\n".to_owned() };
        let title = "Begin a new line behind `---`".to_owned();
        let fix = marker.then(|| CodeFix { title, edits: vec![broken], preferred: true });
        Some(Fault { rule: &SEPARATOR, span, message: message.to_owned(), fix })
    };
    first.into_iter().chain(behind_break).filter_map(fault).take(MOST).collect()
}

/// Characters that a reader of YAML 1.1 does not let in, and those that it takes for a line break.
fn characters(text: &str, is_comment: &dyn Fn(usize) -> bool) -> Vec<Fault> {
    let is_odd = |byte: &u8| matches!(byte, 0..=8 | 11 | 12 | 14..=31 | 0x7f | 0xc2 | 0xe2 | 0xef);
    let json = text.trim_start_matches('\u{feff}').trim_start().starts_with('{');
    let (mut found, mut at) = (Vec::new(), 0);
    while found.len() < MOST
        && let Some(next) = text.as_bytes()[at..].iter().position(is_odd)
    {
        let start = at + next;
        let Some(character) = text.get(start..).and_then(|rest| rest.chars().next()) else {
            at = start + 1;
            continue;
        };
        at = start + character.len_utf8();
        let Some(what) = refused(character, json) else { continue };
        if let Some(length) = colour(&text[start..]) {
            at = start + length;
        }
        let span = Span::new(start, at);
        let code = format!("U+{:04X}", u32::from(character));
        let name = name(character).map(|name| format!(" ({name})")).unwrap_or_default();
        let message = format!("{what} {code}{name}");
        let edits = vec![TextEdit { span, new_text: String::new() }];
        let fix = Some(CodeFix { title: format!("Remove {code}"), edits, preferred: is_comment(start) });
        found.push(Fault { rule: &CONTROL_CHARACTER, span, message, fix });
    }
    found
}

/// What `kubectl` does with a character, if that is not what everybody else does.
fn refused(character: char, json: bool) -> Option<&'static str> {
    match character {
        '\t' | '\n' | '\r' => None,
        '\0'..='\u{1f}' => Some("kubectl refuses the control character"),
        _ if json => None,
        '\u{85}' | '\u{2028}' | '\u{2029}' => Some("kubectl takes for a line break the character"),
        '\u{7f}'..='\u{9f}' => Some("kubectl refuses the control character"),
        '\u{fffe}' | '\u{ffff}' => Some("kubectl refuses the character"),
        _ => None,
    }
}

/// What people call a character.
fn name(character: char) -> Option<&'static str> {
    Some(match character {
        '\0' => "null",
        '\u{7}' => "bell",
        '\u{8}' => "backspace",
        '\u{b}' => "vertical tab",
        '\u{c}' => "form feed",
        '\u{1b}' => "escape, as in a terminal's colours",
        '\u{7f}' => "delete",
        '\u{85}' => "next line",
        '\u{2028}' => "line separator",
        '\u{2029}' => "paragraph separator",
        _ => return None,
    })
}

/// The length of a terminal's control sequence at the start of a text, such as the one that ends colours.
fn colour(text: &str) -> Option<usize> {
    let inside = text.strip_prefix("\u{1b}[")?;
    let end = inside.find(|letter: char| !matches!(letter, '0'..='9' | ';' | ':' | '?'))?;
    inside[end..].starts_with(|letter: char| letter.is_ascii_alphabetic()).then_some(end + 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(&'static str, &str, bool)> {
        let all = faults(text, &|offset| text[..offset].contains('#'));
        all.iter()
            .map(|one| (one.rule.id, one.span.slice(text), one.fix.as_ref().is_some_and(|fix| fix.preferred)))
            .collect()
    }

    #[test]
    fn what_kubectl_reads_is_no_fault() {
        for text in [
            "a: é\u{1F999} \u{feff}\t\r\n",
            "--- # note\na: 1\n",
            "---\na: |\n  --- b\n",
            "{\"a\": \"\u{7f}\"}",
            "# %YAML\na: 1\n%b: 2\n",
        ] {
            assert_eq!(found(text), [], "{text:?}");
        }
    }

    #[test]
    fn what_kubectl_refuses_is_named_at_its_place() {
        assert_eq!(
            found("%YAML 1.1\n# c\n%TAG ! x:\n---\na: 1\n"),
            [(DIRECTIVE.id, "%YAML 1.1", true), (DIRECTIVE.id, "%TAG ! x:", false)]
        );
        assert_eq!(found("--- {a: 1} \n"), [(SEPARATOR.id, "{a: 1}", true)]);
        assert_eq!(found("---x\na: 1\n-----\n"), [(SEPARATOR.id, "x", false), (SEPARATOR.id, "--", false)]);
        assert_eq!(found("a: 1 # \u{1b}[0m x\n"), [(CONTROL_CHARACTER.id, "\u{1b}[0m", true)]);
        assert_eq!(found("a: \u{7}b\u{85}\u{9f}\u{2028}\u{ffff}\n").len(), 5);
        assert_eq!(found("{\"a\": \"\u{1b}\"}"), [(CONTROL_CHARACTER.id, "\u{1b}", false)]);
    }

    #[test]
    fn what_follows_the_end_of_a_document_is_not_read() {
        for (before, text, dropped) in [
            ("a: 1\n...\n", "b: 1\n", true),
            ("a: 1\n... # end\n# c\n", "# c\n\nb: 1\n", true),
            ("a: 1\n...\n", "# c\n---\nb: 1\n", false),
            ("a: 1\n...\n", "%YAML 1.1\n---\nb: 1\n", false),
            ("{\"a\": 1}\n", "{\"b\": 1}\n", false),
            ("", "b: 1\n", false),
        ] {
            assert_eq!(is_dropped(before, text), dropped, "{before:?} {text:?}");
        }
    }

    #[test]
    fn not_more_are_told_than_anybody_mends() {
        assert_eq!(faults(&"\u{7}".repeat(1000), &|_| false).len(), MOST);
    }
}
