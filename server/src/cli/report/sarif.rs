//! SARIF 2.1.0, which code scanning services read.

use super::Checked;
use super::place::Lines;
use crate::ide::{Diagnostic, Severity};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{self, Write};

/// One run with a result per finding.
pub(super) fn write(out: &mut dyn Write, files: &[Checked]) -> io::Result<()> {
    let all = files.iter().flat_map(|file| &file.diagnostics);
    let rules: BTreeSet<&str> = all.map(|found| found.code).collect();
    let results: Vec<Value> = files
        .iter()
        .flat_map(|file| {
            let lines = Lines::new(&file.text);
            file.diagnostics.iter().map(move |found| result(&file.name, &lines, found))
        })
        .collect();
    let report = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "llsd",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules.iter().map(|rule| json!({"id": rule})).collect::<Vec<_>>(),
            }},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    serde_json::to_writer_pretty(&mut *out, &report)?;
    writeln!(out)
}

fn result(name: &str, lines: &Lines<'_>, found: &Diagnostic) -> Value {
    let (start, end) = (lines.place(found.span.start), lines.place(found.span.end));
    json!({
        "ruleId": found.code,
        "level": match found.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Information | Severity::Hint => "note",
        },
        "message": {"text": found.message},
        "locations": [{
            "physicalLocation": {
                "artifactLocation": {"uri": uri(name)},
                "region": {
                    "startLine": start.line,
                    "startColumn": start.column,
                    "endLine": end.line,
                    "endColumn": end.column,
                },
            },
            "logicalLocations": [{"fullyQualifiedName": found.path}],
        }],
    })
}

/// A file name as a relative URI reference.
fn uri(name: &str) -> String {
    let mut uri = String::with_capacity(name.len());
    for byte in name.trim_start_matches("./").bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri
}
