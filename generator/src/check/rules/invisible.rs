//! Characters that nobody sees. Source: they come with text that is copied from web pages and documents; no field of the
//! resource and no setting of llama-stack has a use for them.

use super::super::context::{Report, RuleContext};
use super::super::finding::{Finding, Fix, FixEdit, Severity};
use super::super::rule::{Group, Rule};
use crate::path::{Path, Segment};
use serde_json::Value;

pub static INVISIBLE: Rule = Rule {
    id: "llsd::value::invisible",
    severity: Severity::Error,
    summary: "A value or a key holds a character that is not visible.",
    why: "It is part of the address, the name or the key all the same, which then is another one: the server connects to nothing, and messages show nothing wrong.",
    example: "providers:\n  inference:\n    - provider: vllm\n      endpoint: \"http://vllm:8000/v1\\u200b\"",
    ..Rule::PLAIN
};

pub(super) static GROUP: Group = Group { rules: &[&INVISIBLE], check: Some(check) };

/// The characters, with the names that Unicode gives them. Joiners are left out inside of words of other scripts.
const CHARACTERS: [(char, &str); 14] = [
    ('\u{a0}', "no-break space"),
    ('\u{ad}', "soft hyphen"),
    ('\u{200b}', "zero width space"),
    ('\u{200c}', "zero width non-joiner"),
    ('\u{200d}', "zero width joiner"),
    ('\u{200e}', "left-to-right mark"),
    ('\u{200f}', "right-to-left mark"),
    ('\u{202a}', "left-to-right embedding"),
    ('\u{202c}', "pop directional formatting"),
    ('\u{202e}', "right-to-left override"),
    ('\u{202f}', "narrow no-break space"),
    ('\u{2060}', "word joiner"),
    ('\u{2066}', "left-to-right isolate"),
    ('\u{feff}', "zero width no-break space"),
];

fn check(context: &RuleContext<'_>, report: &mut Report) {
    let mut at = Path::root().key("spec");
    if let Some(spec) = context.value().get("spec") {
        walk(context, spec, &mut at, report);
    }
    for field in ["name", "namespace"] {
        let path = Path::root().key("metadata").key(field);
        if let Some(text) = context.text(&path) {
            value(text, &path, report);
        }
    }
}

/// Looks at every key and every text. As deep as a document may be.
fn walk(context: &RuleContext<'_>, found: &Value, at: &mut Path, report: &mut Report) {
    match found {
        // Text blocks are scripts and prose, in which such characters may be meant.
        Value::String(text) if !text.is_ascii() && !text.contains('\n') && context.is_known(at) => {
            value(text, at, report);
        }
        Value::Array(items) => {
            for (position, item) in items.iter().enumerate() {
                at.push(Segment::Index(position));
                walk(context, item, at, report);
                at.pop();
            }
        }
        Value::Object(fields) => {
            for (name, item) in fields {
                at.push(Segment::Key(name.clone()));
                if !name.is_ascii() {
                    key(name, at, report);
                }
                walk(context, item, at, report);
                at.pop();
            }
        }
        _ => {}
    }
}

fn value(text: &str, path: &Path, report: &mut Report) {
    let Some(shown) = named(text) else { return };
    let clean = visible(text);
    let fix = Fix { preferred: true, ..Fix::replace(format!("Write \"{clean}\""), path.clone(), clean.clone()) };
    let message = format!("\"{clean}\" holds {shown}, which is not visible and makes it another text");
    report.add(Finding::new(&INVISIBLE, path.clone(), message).with_fix(fix));
}

fn key(name: &str, path: &Path, report: &mut Report) {
    let Some(shown) = named(name) else { return };
    let clean = visible(name);
    let message = format!("The key \"{clean}\" holds {shown}, which is not visible and makes it another key");
    let edits = vec![FixEdit::RenameKey { path: path.clone(), to: clean.clone() }];
    let fix = Fix { title: format!("Write {clean}"), edits, preferred: true };
    report.add(Finding::new(&INVISIBLE, path.clone(), message).at_key().with_fix(fix));
}

fn name_of(letter: char) -> Option<&'static str> {
    CHARACTERS.iter().find(|(known, _)| *known == letter).map(|(_, name)| *name)
}

/// The characters of a text that are not visible, by code point and name.
fn named(text: &str) -> Option<String> {
    let mut found: Vec<char> = text.chars().filter(|letter| name_of(*letter).is_some()).collect();
    found.sort_unstable();
    found.dedup();
    let named: Vec<String> = found
        .into_iter()
        .map(|letter| format!("U+{:04X} ({})", u32::from(letter), name_of(letter).unwrap_or_default()))
        .collect();
    (!named.is_empty()).then(|| named.join(" and "))
}

/// The text without them; a space of another kind becomes a plain one, unless it is at an end.
fn visible(text: &str) -> String {
    let spaces = ['\u{a0}', '\u{202f}'];
    let plain: String = text
        .chars()
        .filter_map(|letter| match letter {
            letter if spaces.contains(&letter) => Some(' '),
            letter if name_of(letter).is_some() => None,
            letter => Some(letter),
        })
        .collect();
    if text.starts_with(spaces) || text.ends_with(spaces) { plain.trim().to_owned() } else { plain }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_named_and_taken_out() {
        assert_eq!(named("a\u{200b}b\u{a0}").as_deref(), Some("U+00A0 (no-break space) and U+200B (zero width space)"));
        assert_eq!(visible("a\u{200b}b\u{a0}c"), "ab c");
        assert_eq!(visible("v1\u{a0}"), "v1");
        assert_eq!(named("grüße"), None);
    }
}
