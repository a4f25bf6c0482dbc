//! For programs: everything that is known about each finding.

use super::place::{Lines, Place};
use super::{Other, Report};
use crate::ide::{Diagnostic, Severity, Tag, Unchecked};
use serde_json::{Value, json};
use std::io::{self, Write};

/// One object: `version`, `files`, `resources`, `findings`, `unchecked`, `unreadable`.
pub(super) fn write(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    let files = &report.files;
    let findings: Vec<Value> = files
        .iter()
        .flat_map(|file| {
            let lines = Lines::new(&file.text);
            let all = file.diagnostics.iter().enumerate();
            all.map(move |(number, found)| finding(&file.name, &lines, found, file.others.get(&number)))
        })
        .collect();
    let unchecked: Vec<Value> = files
        .iter()
        .flat_map(|file| {
            let lines = Lines::new(&file.text);
            file.unchecked.iter().map(move |open| unchecked(&file.name, &lines, open))
        })
        .collect();
    let unreadable = report.unreadable.iter().map(|one| json!({"file": one.name(), "reason": one.reason()}));
    let report = json!({
        "version": 1,
        "files": files.len(),
        "resources": files.iter().map(|file| file.resources).sum::<usize>(),
        "configs": files.iter().map(|file| file.configs).sum::<usize>(),
        "findings": findings,
        "unchecked": unchecked,
        "unreadable": unreadable.collect::<Vec<_>>(),
    });
    serde_json::to_writer_pretty(&mut *out, &report)?;
    writeln!(out)
}

fn unchecked(name: &str, lines: &Lines<'_>, open: &Unchecked) -> Value {
    let at = lines.place(open.span.start);
    json!({
        "file": name,
        "document": open.document,
        "rule": open.rule,
        "path": open.path,
        "reason": open.reason,
        "start": {"line": at.line, "column": at.column},
    })
}

fn finding(name: &str, lines: &Lines<'_>, found: &Diagnostic, other: Option<&Other>) -> Value {
    let place = |place: Place| json!({"line": place.line, "column": place.column});
    let elsewhere = other.zip(found.elsewhere.as_ref()).map(|(other, elsewhere)| {
        let (start, end) = (place(other.start), place(other.end));
        json!({"file": other.name, "start": start, "end": end, "message": elsewhere.message})
    });
    let related: Vec<Value> = found
        .related
        .iter()
        .map(|(span, message)| {
            let (start, end) = (place(lines.place(span.start)), place(lines.place(span.end)));
            json!({"file": name, "start": start, "end": end, "message": message})
        })
        .chain(elsewhere)
        .collect();
    let fixes: Vec<Value> =
        found.fixes.iter().map(|fix| json!({"title": fix.title, "preferred": fix.preferred})).collect();
    json!({
        "file": name,
        "document": found.document,
        "rule": found.code,
        "severity": severity(found.severity),
        "path": found.path,
        "message": found.message,
        "serverText": found.api_server_message,
        "start": place(lines.place(found.span.start)),
        "end": place(lines.place(found.span.end)),
        "tags": found.tags.iter().map(tag).collect::<Vec<_>>(),
        "related": related,
        "fixes": fixes,
    })
}

fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Information => "information",
        Severity::Hint => "hint",
    }
}

fn tag(tag: &Tag) -> &'static str {
    match tag {
        Tag::Deprecated => "deprecated",
        Tag::Unnecessary => "unnecessary",
    }
}
