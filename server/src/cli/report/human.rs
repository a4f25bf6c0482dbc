//! For people at a terminal: each finding with the line it speaks of.

use super::place::Lines;
use super::{Checked, Other};
use crate::ide::{Diagnostic, Severity};
use std::io::{self, Write};

/// Longer lines are cut around the finding.
const WIDTH: usize = 120;

/// Findings, then one line that sums up.
pub(super) fn write(out: &mut dyn Write, files: &[Checked]) -> io::Result<()> {
    for file in files {
        findings(out, file)?;
    }
    summary(out, files)
}

/// The findings of one file.
pub(super) fn findings(out: &mut dyn Write, file: &Checked) -> io::Result<()> {
    let lines = Lines::new(&file.text);
    let all = file.diagnostics.iter().enumerate();
    all.into_iter().try_for_each(|(number, found)| finding(out, &file.name, &lines, found, file.others.get(&number)))
}

fn finding(
    out: &mut dyn Write,
    name: &str,
    lines: &Lines<'_>,
    found: &Diagnostic,
    other: Option<&Other>,
) -> io::Result<()> {
    let place = lines.place(found.span.start);
    let end = lines.place(found.span.end);
    writeln!(out, "{}[{}]: {}", word(found.severity), found.code, found.message)?;
    writeln!(out, "  --> {name}:{}:{}", place.line, place.column)?;
    let text = lines.text(place.line);
    let last = if end.line == place.line { end.column } else { 1 + text.chars().count() };
    excerpt(out, place.line, text, place.column, last.max(place.column + 1))?;
    for (span, message) in &found.related {
        let other = lines.place(span.start);
        writeln!(out, "   = see {name}:{}:{}: {message}", other.line, other.column)?;
    }
    if let (Some(Other { name, start, .. }), Some(elsewhere)) = (other, &found.elsewhere) {
        writeln!(out, "   = see {name}:{}:{}: {}", start.line, start.column, elsewhere.message)?;
    }
    for fix in &found.fixes {
        let how = if fix.preferred { " (`llsd fix` does it)" } else { "" };
        writeln!(out, "   = fix: {}{how}", fix.title)?;
    }
    writeln!(out)
}

/// A line with carets under the columns `from..to` (from 1).
fn excerpt(out: &mut dyn Write, line: usize, text: &str, from: usize, to: usize) -> io::Result<()> {
    let number = line.to_string();
    let skipped = if text.chars().count() > WIDTH { from.saturating_sub(WIDTH / 3) } else { 0 };
    let shown: String = text.chars().skip(skipped).take(WIDTH).map(plain).collect();
    let ahead = (from - 1).saturating_sub(skipped);
    let carets = (to - from).min(WIDTH.saturating_sub(ahead)).max(1);
    writeln!(out, "{:>1$} | {2}", number, number.len().max(4), shown)?;
    writeln!(out, "{:>1$} | {2:3$}{4:^<5$}", "", number.len().max(4), "", ahead, "", carets)
}

/// Tabs would move the carets, and control characters would talk to the terminal.
fn plain(character: char) -> char {
    if character.is_control() { ' ' } else { character }
}

fn summary(out: &mut dyn Write, files: &[Checked]) -> io::Result<()> {
    let count =
        |severity| files.iter().flat_map(|file| &file.diagnostics).filter(|found| found.severity == severity).count();
    let kinds = [
        (Severity::Error, "error"),
        (Severity::Warning, "warning"),
        (Severity::Information, "remark"),
        (Severity::Hint, "hint"),
    ];
    let found: Vec<_> = kinds
        .into_iter()
        .map(|(severity, name)| (count(severity), name))
        .filter(|(number, _)| *number > 0)
        .map(|(number, name)| counted(number, name))
        .collect();
    let found = if found.is_empty() { "nothing wrong".to_owned() } else { found.join(", ") };
    let resources = files.iter().map(|file| file.resources).sum();
    writeln!(out, "{} in {}: {found}", counted(resources, "resource"), counted(files.len(), "file"))
}

fn counted(number: usize, name: &str) -> String {
    if number == 1 { format!("1 {name}") } else { format!("{number} {name}s") }
}

/// A severity in words.
pub(super) fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Information => "remark",
        Severity::Hint => "hint",
    }
}
