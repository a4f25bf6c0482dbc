//! For programs: everything that is known about each finding.

use super::Checked;
use super::place::{Lines, Place};
use crate::ide::{Diagnostic, Severity, Tag};
use serde_json::{Value, json};
use std::io::{self, Write};

/// One object: `version`, `files`, `resources`, `findings`.
pub(super) fn write(out: &mut dyn Write, files: &[Checked]) -> io::Result<()> {
    let findings: Vec<Value> = files
        .iter()
        .flat_map(|file| {
            let lines = Lines::new(&file.text);
            file.diagnostics.iter().map(move |found| finding(&file.name, &lines, found))
        })
        .collect();
    let report = json!({
        "version": 1,
        "files": files.len(),
        "resources": files.iter().map(|file| file.resources).sum::<usize>(),
        "findings": findings,
    });
    serde_json::to_writer_pretty(&mut *out, &report)?;
    writeln!(out)
}

fn finding(name: &str, lines: &Lines<'_>, found: &Diagnostic) -> Value {
    let place = |place: Place| json!({"line": place.line, "column": place.column});
    let related: Vec<Value> = found
        .related
        .iter()
        .map(|(span, message)| {
            json!({"start": place(lines.place(span.start)), "end": place(lines.place(span.end)), "message": message})
        })
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
        "serverText": found.server_text,
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
