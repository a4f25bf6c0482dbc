//! Trees as lists of events, to compare this crate with the YAML test suite and with yaml-rust2.

#![allow(dead_code, unreachable_pub, missing_docs)]

pub mod agree;
pub mod damage;
pub mod hostile;
pub mod libyaml;

use llsd_yaml::{Document, Kind, Node, Stream, Style};
use yaml_rust2::Event;
use yaml_rust2::parser::Parser;

/// Events of all documents that exist in the YAML sense.
pub fn our_events(text: &str) -> Vec<String> {
    events(text, false)
}

/// [`our_events`] with a plain `~` read as an absent value, as yaml-rust2 does.
pub fn our_events_like_strict(text: &str) -> Vec<String> {
    events(text, true)
}

fn events(text: &str, like_strict: bool) -> Vec<String> {
    let stream = Stream::parse(text);
    let mut out = Vec::new();
    for located in stream.documents() {
        document_events(&located.document, like_strict, &mut out);
    }
    out
}

fn document_events(document: &Document, like_strict: bool, out: &mut Vec<String>) {
    let Some(root) = document.root() else { return };
    out.push("+DOC".to_owned());
    // Depth costs no stack: closing events wait on a list.
    enum Work<'d> {
        Open(Node<'d>),
        Close(&'static str),
    }
    let mut work = vec![Work::Open(root)];
    while let Some(item) = work.pop() {
        match item {
            Work::Close(event) => out.push(event.to_owned()),
            Work::Open(node) => match node.kind() {
                Kind::Scalar if like_strict && node.style() == Style::Plain && node.value() == "~" => {
                    out.push("=".to_owned());
                }
                Kind::Scalar => out.push(format!("={}", node.value())),
                Kind::Alias => out.push("*".to_owned()),
                Kind::Mapping | Kind::Sequence => {
                    let (open, close) = if node.is_mapping() { ("+MAP", "-MAP") } else { ("+SEQ", "-SEQ") };
                    out.push(open.to_owned());
                    work.push(Work::Close(close));
                    let children: Vec<_> = node.children().collect();
                    work.extend(children.into_iter().rev().map(Work::Open));
                }
            },
        }
    }
    out.push("-DOC".to_owned());
}

/// Events of yaml-rust2, or its complaint. A byte order mark is left out first, as the judge of this crate does.
pub fn strict_events(text: &str) -> Result<Vec<String>, String> {
    let mut parser = Parser::new_from_str(text.strip_prefix('\u{feff}').unwrap_or(text));
    let mut out = Vec::new();
    loop {
        match parser.next_token().map_err(|e| e.to_string())?.0 {
            Event::StreamEnd => return Ok(out),
            Event::DocumentStart => out.push("+DOC".to_owned()),
            Event::DocumentEnd => out.push("-DOC".to_owned()),
            Event::Alias(_) => out.push("*".to_owned()),
            Event::Scalar(value, style, _, tag) => {
                // The absent value is `~` in yaml-rust2, with this style and no way to tell it from a written one.
                let absent = value == "~" && style == yaml_rust2::scanner::TScalarStyle::Plain;
                let _ = tag;
                out.push(if absent { "=".to_owned() } else { format!("={value}") });
            }
            Event::SequenceStart(..) => out.push("+SEQ".to_owned()),
            Event::SequenceEnd => out.push("-SEQ".to_owned()),
            Event::MappingStart(..) => out.push("+MAP".to_owned()),
            Event::MappingEnd => out.push("-MAP".to_owned()),
            _ => {}
        }
    }
}

/// The first difference of two lists, for a message.
pub fn difference(ours: &[String], theirs: &[String]) -> Option<String> {
    if ours == theirs {
        return None;
    }
    let at = ours.iter().zip(theirs).take_while(|(a, b)| a == b).count();
    let show = |list: &[String]| format!("{:?}", &list[at.saturating_sub(2).min(list.len())..list.len().min(at + 4)]);
    Some(format!("at event {at}: ours {}, expected {}", show(ours), show(theirs)))
}

/// One case of the YAML test suite.
pub struct Case {
    pub id: String,
    pub yaml: String,
    /// Expected events; empty for a text that is not well-formed.
    pub events: Vec<String>,
    pub fail: bool,
}

/// All cases of the suite.
pub fn suite() -> Vec<Case> {
    include_str!("../suite/cases.jsonl")
        .lines()
        .map(|line| {
            let case: serde_json::Value = serde_json::from_str(line).expect("a case is JSON");
            let text = |key: &str| case[key].as_str().unwrap_or_default().to_owned();
            Case {
                id: text("id"),
                yaml: text("yaml"),
                fail: case["fail"].as_bool().unwrap_or(false),
                events: suite_events(&text("tree")),
            }
        })
        .collect()
}

fn suite_events(tree: &str) -> Vec<String> {
    let mut out = Vec::new();
    for line in tree.lines() {
        let line = line.trim_start_matches(' ');
        let (kind, mut rest) = line.split_at(line.len().min(4));
        match kind {
            "+DOC" | "-DOC" | "+MAP" | "-MAP" | "+SEQ" | "-SEQ" => out.push(kind.to_owned()),
            "=ALI" => out.push("*".to_owned()),
            "=VAL" => {
                rest = rest.trim_start_matches(' ');
                while rest.starts_with(['&', '<']) {
                    rest = rest.split_once(' ').map_or("", |(_, r)| r);
                }
                out.push(format!("={}", unescape(rest.get(1..).unwrap_or(""))));
            }
            _ => {}
        }
    }
    out
}

fn unescape(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some('r') => out.push('\r'),
                Some('b') => out.push('\u{8}'),
                Some(other) => out.push(other),
                None => {}
            },
            c => out.push(c),
        }
    }
    out
}
