//! JUnit XML, which build servers show as tests: a case per file, failed by errors and warnings.

use super::human::word;
use super::place::Lines;
use super::{Checked, Report};
use crate::ide::Severity;
use std::fmt::Write as _;
use std::io::{self, Write};

/// Writes one test suite with a test case for each file, failed where the file has errors or warnings.
pub(super) fn write(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    let files = &report.files;
    let fails = |file: &&Checked| file.diagnostics.iter().any(|found| found.severity <= Severity::Warning);
    let failures = files.iter().filter(fails).count();
    let unread = &report.unreadable;
    let without = files.iter().filter(|file| !file.is_ours()).count();
    writeln!(out, r#"<?xml version="1.0" encoding="UTF-8"?>"#)?;
    writeln!(
        out,
        r#"<testsuites><testsuite name="llsd check" tests="{}" failures="{failures}" errors="{}" skipped="{}">"#,
        files.len() + unread.len(),
        unread.len(),
        without
    )?;
    for file in files {
        let lines = Lines::new(&file.text);
        let mut text = String::new();
        for found in &file.diagnostics {
            let place = lines.place(found.span.start);
            let (severity, name) = (word(found.severity), &file.name);
            let _ =
                writeln!(text, "{name}:{}:{}: {severity}[{}]: {}", place.line, place.column, found.code, found.message);
        }
        write!(out, r#"  <testcase name="{}" classname="llsd">"#, escaped(&file.name))?;
        if fails(&file) {
            let count = file.diagnostics.len();
            write!(out, r#"<failure message="{count} findings">{}</failure>"#, escaped(&text))?;
        } else if !file.is_ours() {
            write!(out, r#"<skipped message="no LlamaStackDistribution, OGXServer or config"/>"#)?;
        } else if !text.is_empty() {
            write!(out, "<system-out>{}</system-out>", escaped(&text))?;
        }
        writeln!(out, "</testcase>")?;
    }
    for one in unread {
        let (name, reason) = (escaped(&one.name()), escaped(one.reason()));
        writeln!(out, r#"  <testcase name="{name}" classname="llsd"><error message="{reason}"/></testcase>"#)?;
    }
    writeln!(out, "</testsuite></testsuites>")
}

/// Text inside XML, without the control characters that XML forbids.
fn escaped(text: &str) -> String {
    let mut xml = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => xml.push_str("&amp;"),
            '<' => xml.push_str("&lt;"),
            '>' => xml.push_str("&gt;"),
            '"' => xml.push_str("&quot;"),
            '\n' | '\t' => xml.push(character),
            _ if character.is_control() || matches!(character, '\u{FFFE}' | '\u{FFFF}') => xml.push('\u{FFFD}'),
            _ => xml.push(character),
        }
    }
    xml
}
