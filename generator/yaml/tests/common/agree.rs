//! Whether this crate and yaml-rust2 read a text alike.

use super::{difference, our_events_like_strict, strict_events};

/// What a comparison found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// yaml-rust2 does not accept the text.
    Rejected,
    /// Both have the same structure and values.
    Same,
    /// They differ for a reason that is known.
    Known(Known),
    /// They differ.
    Differ(String),
}

/// Why the two may read a text differently.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Known {
    /// Ours by decision: `{{ … }}` on one line is an action of a template, not a mapping in a mapping.
    Template,
    /// Ours by decision: the lines that version control leaves in a conflict are no text.
    Conflict,
    /// A fault of yaml-rust2: a block scalar goes on behind `---` and `...` in column 0. YAML 1.2.2, rule 206,
    /// c-forbidden: no content line may start with a document marker.
    MarkerInBlock,
    /// A fault of yaml-rust2: a comment with a tab in front of it goes unnoticed between the lines of a plain scalar.
    /// YAML 1.2.2, 6.6: comments must not appear inside scalars.
    TabComment,
    /// A fault of yaml-rust2: tabs in front of an entry or item count as indentation. YAML 1.2.2, 6.1: tab characters
    /// must not be used in indentation.
    TabIndent,
    /// A fault of yaml-rust2: a block scalar without lines at the end of the text is one line break. YAML 1.2.2, 8.1.1.2:
    /// lines of a scalar that has no others are subject to chomping, and here there is not even one.
    EmptyBlock,
    /// A fault of yaml-rust2: blanks behind the last break of the text add a line to a block scalar in front of them.
    /// YAML 1.2.2, 8.1.1.2: clipping keeps one final break.
    BlanksAtEnd,
}

/// Compares the two readings.
pub fn compare(text: &str) -> Verdict {
    let Ok(theirs) = strict_events(text) else { return Verdict::Rejected };
    let ours = our_events_like_strict(text);
    let Some(difference) = difference(&ours, &theirs) else { return Verdict::Same };
    match known(text, &ours, &theirs) {
        Some(known) => Verdict::Known(known),
        None => Verdict::Differ(difference),
    }
}

/// The reason for a difference, if it is one of the known. The texts are looked at as narrowly as the reasons allow.
fn known(text: &str, ours: &[String], theirs: &[String]) -> Option<Known> {
    let mut lines = text.split(['\n', '\r']);
    if lines.clone().any(|line| line.find("{{").is_some_and(|at| line[at..].contains("}}"))) {
        return Some(Known::Template);
    }
    if lines.any(|line| line.starts_with("<<<<<<< ") || line == "<<<<<<<") {
        return Some(Known::Conflict);
    }
    for line in text.split(['\n', '\r']) {
        let content = line.trim_start_matches([' ', '\t']);
        if !content.is_empty() && line[..line.len() - content.len()].contains('\t') {
            return Some(if content.starts_with('#') { Known::TabComment } else { Known::TabIndent });
        }
    }
    let marker = |value: &String| value.contains("---") || value.contains("...");
    let at_start = |line: &str| {
        let rest = line.strip_prefix("---").or_else(|| line.strip_prefix("..."));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
    };
    if theirs.iter().any(marker) && text.split(['\n', '\r']).any(at_start) {
        return Some(Known::MarkerInBlock);
    }
    // One scalar is all that differs.
    if ours.len() != theirs.len() || ours.iter().zip(theirs).filter(|(a, b)| a != b).count() != 1 {
        return None;
    }
    let at = ours.iter().zip(theirs).position(|(a, b)| a != b)?;
    if ours[at] == "=" && theirs[at] == "=\n" {
        return Some(Known::EmptyBlock);
    }
    let blanks = text.ends_with([' ', '\t']);
    (blanks && theirs[at].strip_suffix('\n') == Some(ours[at].as_str())).then_some(Known::BlanksAtEnd)
}
