//! For people at a terminal: each finding with the line it speaks of.

use super::place::Lines;
use super::{Checked, Other, Report};
use crate::ide::{Diagnostic, Severity};
use std::io::{self, Write};

/// Characters of a source line; longer ones are cut around the finding, so that terminals do not wrap them.
const WIDTH: usize = 120;

/// Findings, then one line that sums up.
pub(super) fn write(out: &mut dyn Write, report: &Report, show_unchecked: bool) -> io::Result<()> {
    for file in &report.files {
        findings(out, file)?;
    }
    if show_unchecked {
        for file in &report.files {
            unchecked(out, file)?;
        }
    }
    summary(out, report)
}

/// What was not checked in one file.
fn unchecked(out: &mut dyn Write, file: &Checked) -> io::Result<()> {
    let lines = Lines::new(&file.text);
    for open in &file.unchecked {
        let place = lines.place(open.span.start);
        let rule = open.rule.as_ref().map(|rule| format!("[{rule}]")).unwrap_or_default();
        writeln!(out, "not checked{rule}: {}", open.reason)?;
        writeln!(out, "  --> {}:{}:{}", file.name, place.line, place.column)?;
    }
    Ok(())
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

/// One sentence that claims nothing of what was not checked.
fn summary(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    let files = &report.files;
    let resources: usize = files.iter().map(|file| file.resources).sum();
    let configs: usize = files.iter().map(|file| file.configs).sum();
    let without = files.iter().filter(|file| !file.is_ours()).count();
    let undecided = files.iter().flat_map(|file| &file.unchecked).filter(|open| open.rule.is_some()).count();
    let mut rest = String::new();
    if without > 0 && without < files.len() {
        rest =
            format!("; {} none", if without == 1 { "1 file has".to_owned() } else { format!("{without} files have") });
    }
    if undecided > 0 {
        rest.push_str(&format!("; {} not decided (--show-unchecked)", counted(undecided, "rule")));
    }
    if !report.unreadable.is_empty() {
        rest.push_str(&format!("; {} not read", counted(report.unreadable.len(), "path")));
    }
    if resources + configs == 0 {
        let place = match files.len() {
            0 => return Ok(()),
            1 => "this file".to_owned(),
            many => format!("these {many} files"),
        };
        return writeln!(
            io::stderr(),
            "llsd: no LlamaStackDistribution, OGXServer or config in {place}: nothing was checked{rest}"
        );
    }
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
    let subjects = match (resources, configs) {
        (_, 0) => counted(resources, "resource"),
        (0, _) => counted(configs, "config"),
        _ => format!("{} and {}", counted(resources, "resource"), counted(configs, "config")),
    };
    writeln!(out, "{subjects} in {}: {found}{rest}", counted(files.len(), "file"))
}

fn counted(number: usize, name: &str) -> String {
    if number == 1 { format!("1 {name}") } else { format!("{number} {name}s") }
}

/// The word for a severity in front of a message.
pub(super) fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Information => "remark",
        Severity::Hint => "hint",
    }
}
