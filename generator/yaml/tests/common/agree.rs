//! Whether this crate and yaml-rust2 read a text alike.

use llsd_yaml::{Kind, SkippedKind, Stream, Style, split_documents};

use super::libyaml::libyaml_events;
use super::{difference, our_events_like_strict, strict_events};

/// How two readings of a text compare.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// yaml-rust2 does not accept the text.
    Rejected,
    /// Both have the same structure and values.
    Same,
    /// They differ for a reason that is known.
    Known(Known),
    /// They differ for no known reason; the text shows the first difference.
    Differ(String),
}

/// Why the two may read a text differently.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Known {
    /// Ours by decision: `{{ … }}` on one line is an action of a template, not a mapping in a mapping. The text is read
    /// as if a word stood there, or a comment where the action has its line for itself.
    Template,
    /// Ours by decision: the lines that version control leaves in a conflict are no text. They are read as comments.
    Conflict,
    /// A fault of yaml-rust2: a block scalar goes on behind `---` and `...` in column 0. YAML 1.2.2, rule 206,
    /// c-forbidden: no content line may start with a document marker. Each document for itself is read alike.
    MarkerInBlock,
    /// A fault of yaml-rust2: a comment with a tab in front of it goes unnoticed between the lines of a plain scalar.
    /// YAML 1.2.2, 6.6: comments must not appear inside scalars. libyaml reads it as we do, or rejects it as well.
    TabComment,
    /// A fault of yaml-rust2: tabs in front of an entry or item count as indentation. YAML 1.2.2, 6.1: tab characters
    /// must not be used in indentation. libyaml reads it as we do, or rejects it as well.
    TabIndent,
    /// A fault of yaml-rust2: a block scalar without lines at the end of the text is one line break. YAML 1.2.2, 8.1.1.2:
    /// lines of a scalar that has no others are subject to chomping, and here there is not even one. libyaml reads it
    /// as we do.
    EmptyBlock,
    /// A fault of yaml-rust2: blanks behind the last break of the text add a line to a block scalar in front of them.
    /// YAML 1.2.2, 8.1.1.2: clipping keeps one final break. libyaml reads it as we do.
    BlanksAtEnd,
    /// A fault of yaml-rust2: a byte order mark in front of a later document is content. YAML 1.2.2, rule 202,
    /// l-document-prefix: each document may start with one. Without the mark both read the text as we do with it.
    ByteOrderMark,
    /// A fault of yaml-rust2: a bracket of the wrong kind, or a second colon, goes unnoticed between brackets. libyaml
    /// rejects the text, and we report it.
    NoFlow,
}

/// Compares this crate's reading of a text with that of yaml-rust2.
pub fn compare(text: &str) -> Verdict {
    let Ok(theirs) = strict_events(text) else { return Verdict::Rejected };
    let ours = our_events_like_strict(text);
    let Some(difference) = difference(&ours, &theirs) else { return Verdict::Same };
    match holes(text)
        .or_else(|| marker(text, &theirs))
        .or_else(|| fault(text, &ours, &theirs))
        .or_else(|| byte_order_mark(text, &ours))
        .or_else(|| no_flow(text))
    {
        Some(known) => Verdict::Known(known),
        None => Verdict::Differ(difference),
    }
}

/// Whether the text has a mark at the start of a later line, and is read alike without.
fn byte_order_mark(text: &str, ours: &[String]) -> Option<Known> {
    let bare = text.replace("\n\u{feff}", "\n").replace("\r\u{feff}", "\r");
    let alike = || match compare_simple(&bare) {
        Verdict::Rejected => has_errors(text),
        Verdict::Differ(_) => false,
        Verdict::Same | Verdict::Known(_) => true,
    };
    (bare.len() < text.len() && our_events_like_strict(&bare) == ours && alike()).then_some(Known::ByteOrderMark)
}

/// Whether the text has brackets, and libyaml rejects it as we do.
fn no_flow(text: &str) -> Option<Known> {
    let rejected = matches!(libyaml_events(text), Some(Err(_))) && has_errors(text);
    (text.contains(['[', '{']) && rejected).then_some(Known::NoFlow)
}

fn has_errors(text: &str) -> bool {
    Stream::parse(text).documents().iter().any(|d| !d.document.errors().is_empty())
}

/// The reason of a difference, if the text has holes and both read it alike once they are filled.
fn holes(text: &str) -> Option<Known> {
    let stream = Stream::parse(text);
    let mut known = None;
    let mut filled = text.as_bytes().to_vec();
    let mut words: Vec<String> = Vec::new();
    for located in stream.documents() {
        for skipped in located.document.skipped() {
            let span = skipped.span.shift(located.offset);
            filled[span.start..span.end].fill(b'#');
            let kind = if skipped.kind == SkippedKind::Template { Known::Template } else { Known::Conflict };
            known = known.max(Some(kind));
        }
        for node in located.document.nodes() {
            let source = node.source();
            let hole = source.find("{{").is_some_and(|at| source[at..].contains("}}"));
            if node.kind() == Kind::Scalar && node.style() == Style::Plain && hole && !source.contains('\n') {
                let span = node.span().shift(located.offset);
                filled[span.start..span.end].fill(b'T');
                words.push(source.to_owned());
                known = known.max(Some(Known::Template));
            }
        }
    }
    known?;
    let filled = String::from_utf8(filled).ok()?;
    let Ok(theirs) = strict_events(&filled) else {
        // Without its holes the text is broken, and we say so.
        return known.filter(|_| has_errors(text));
    };
    let mut ours = our_events_like_strict(text);
    for event in &mut ours {
        if words.iter().any(|word| event.strip_prefix('=') == Some(word)) {
            *event = format!("={}", "T".repeat(event.len() - 1));
        }
    }
    // A document of nothing but holes is none for us, and an empty value for yaml-rust2.
    let empty = ours.is_empty() && theirs == ["+DOC", "=", "-DOC"];
    known.filter(|_| empty || ours == theirs)
}

/// Whether a text block of yaml-rust2 swallowed a marker, and the documents are read alike one by one.
fn marker(text: &str, theirs: &[String]) -> Option<Known> {
    let is_marker = |line: &str| {
        let rest = line.strip_prefix("---").or_else(|| line.strip_prefix("..."));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
    };
    if !theirs.iter().any(|value| value.contains("---") || value.contains("...")) {
        return None;
    }
    // `...` ends a document without opening another, so that a part may have to be cut once more.
    let mut parts: Vec<&str> = split_documents(text).iter().map(|span| span.slice(text)).collect();
    if let [part] = parts.as_slice() {
        let mut starts = part.match_indices(['\n', '\r']).map(|(i, _)| i + 1);
        let cut = starts.find(|i| part[*i..].split(['\n', '\r']).next().is_some_and(is_marker))?;
        parts = vec![&part[..cut]];
    }
    let alike = |part: &&str| match compare_simple(part) {
        // The judge looks at each document for itself, and reports this one.
        Verdict::Rejected => true,
        Verdict::Differ(_) => false,
        Verdict::Same | Verdict::Known(_) => true,
    };
    parts.iter().all(alike).then_some(Known::MarkerInBlock)
}

/// [`compare`] for a text with a single document, which cannot be split further.
fn compare_simple(text: &str) -> Verdict {
    let Ok(theirs) = strict_events(text) else { return Verdict::Rejected };
    let ours = our_events_like_strict(text);
    let Some(difference) = difference(&ours, &theirs) else { return Verdict::Same };
    match holes(text).or_else(|| fault(text, &ours, &theirs)) {
        Some(known) => Verdict::Known(known),
        None => Verdict::Differ(difference),
    }
}

/// The fault of yaml-rust2 that explains a difference, if libyaml does not share it.
fn fault(text: &str, ours: &[String], theirs: &[String]) -> Option<Known> {
    let known = shape_of_fault(text, ours, theirs)?;
    let confirmed = match libyaml_events(text) {
        None => true,
        Some(Ok(events)) => super::libyaml::same(ours, &events),
        // What is wrong with the text as a whole has nothing to do with its last scalar.
        Some(Err(_)) => matches!(known, Known::EmptyBlock | Known::BlanksAtEnd) || has_errors(text),
    };
    confirmed.then_some(known)
}

fn shape_of_fault(text: &str, ours: &[String], theirs: &[String]) -> Option<Known> {
    // One scalar is all that differs, and it is the last.
    let differ: Vec<usize> = (0..ours.len().min(theirs.len())).filter(|i| ours[*i] != theirs[*i]).collect();
    if ours.len() == theirs.len()
        && let [at] = differ.as_slice()
        && ours[at + 1..].iter().all(|event| event.starts_with('-') || event == "=")
    {
        if ours[*at] == "=" && theirs[*at] == "=\n" && ends_with_header(text) {
            return Some(Known::EmptyBlock);
        }
        if text.ends_with([' ', '\t']) && theirs[*at].strip_suffix('\n') == Some(ours[*at].as_str()) {
            return Some(Known::BlanksAtEnd);
        }
    }
    for line in text.split(['\n', '\r']) {
        let content = line.trim_start_matches([' ', '\t']);
        if !content.is_empty() && line[..line.len() - content.len()].contains('\t') {
            return Some(if content.starts_with('#') { Known::TabComment } else { Known::TabIndent });
        }
    }
    None
}

/// Whether the last line with content ends with the header of a text block.
fn ends_with_header(text: &str) -> bool {
    let mut lines = text.split(['\n', '\r']).rev().map(|line| line.split(" #").next().unwrap_or(line).trim());
    let Some(last) = lines.find(|line| !line.is_empty() && !line.starts_with('#')) else { return false };
    let sign = last.trim_end_matches(|c: char| c.is_ascii_digit() || c == '+' || c == '-');
    sign.ends_with(['|', '>'])
}
