//! Comments that silence rules. Found by the reader of the text.

use super::super::finding::Severity;
use super::super::rule::{Group, Rule};

pub static UNUSED: Rule = Rule {
    id: "llsd::ignore::unused",
    severity: Severity::Warning,
    summary: "A comment silences a rule that finds nothing there.",
    why: "What it stood for has been mended, or was never there; the next mistake at this place would go unseen.",
    example: "distribution:\n  name: starter   # llsd: ignore[llsd::distribution::unknown] comes with the next release",
    ..Rule::PLAIN
};

pub static INVALID: Rule = Rule {
    id: "llsd::ignore::invalid",
    severity: Severity::Warning,
    summary: "A comment is meant to silence a rule, and names none, an unknown one, or no reason.",
    why: "Nothing is silenced then; and without a reason nobody can tell later whether the comment is still needed.",
    example: "distribution:\n  name: ours   # llsd: ignore[llsd::distribution::unknwn] our own image",
    ..Rule::PLAIN
};

pub(super) static GROUP: Group = Group { rules: &[&UNUSED, &INVALID], check: None };
