//! Commands that a GitHub workflow turns into annotations of the changed lines.

use super::Checked;
use super::place::Lines;
use crate::ide::Severity;
use std::io::{self, Write};

/// Writes a workflow command for each finding, which GitHub shows beside the line of a pull request.
pub(super) fn write(out: &mut dyn Write, files: &[Checked]) -> io::Result<()> {
    for file in files {
        let lines = Lines::new(&file.text);
        for found in &file.diagnostics {
            let command = match found.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Information | Severity::Hint => "notice",
            };
            let (start, end) = (lines.place(found.span.start), lines.place(found.span.end));
            let (name, title) = (property(&file.name), property(found.code));
            write!(out, "::{command} file={name},line={},endLine={}", start.line, end.line)?;
            // Columns are only valid within one line.
            if start.line == end.line {
                write!(out, ",col={},endColumn={}", start.column, end.column)?;
            }
            writeln!(out, ",title={title}::{}", data(&found.message))?;
        }
    }
    Ok(())
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
