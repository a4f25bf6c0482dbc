//! Findings for people and for machines.

mod github;
mod human;
mod json;
mod junit;
mod place;
mod sarif;

use crate::ide::{self, Analysis, Diagnostic, Span};
use clap::ValueEnum;
use place::{Lines, Place};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;

/// How findings are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// Sentences with the lines they speak of
    Human,
    /// One object with all findings, paths and the API server's own words
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Annotations of a GitHub workflow
    Github,
    /// JUnit XML: a test case per file
    Junit,
}

/// One file and what is wrong with it.
#[derive(Debug)]
pub(super) struct Checked {
    /// As named on the command line, or found below a directory named there.
    pub(super) name: String,
    /// Its text.
    pub(super) text: Arc<str>,
    /// How many resources it holds.
    pub(super) resources: usize,
    /// In the order of their places.
    pub(super) diagnostics: Vec<Diagnostic>,
    /// Places in other files that belong to some of them, by number.
    pub(super) others: BTreeMap<usize, Other>,
}

/// A place in another file.
#[derive(Clone, Debug)]
pub(super) struct Other {
    /// The file, as it is named on the command line.
    name: String,
    /// Where it begins.
    start: Place,
    /// Where it ends.
    end: Place,
}

impl Other {
    /// A span of a text, in a file of this name.
    pub(super) fn new(name: String, text: &str, span: Span) -> Self {
        let lines = Lines::new(text);
        Self { name, start: lines.place(span.start), end: lines.place(span.end) }
    }
}

/// Finds a resource of another file.
pub(super) type Elsewhere<'a> = &'a (dyn Fn(&ide::Elsewhere) -> Option<Other> + Sync);

impl Checked {
    /// What an analysis says of a file.
    pub(super) fn new(name: String, analysis: &Analysis, elsewhere: Elsewhere<'_>) -> Self {
        let diagnostics = analysis.diagnostics();
        let others = diagnostics.iter().enumerate();
        let others = others.filter_map(|(number, found)| Some((number, elsewhere(found.elsewhere.as_ref()?)?)));
        let (others, resources) = (others.collect(), analysis.resources().len());
        Self { name, text: analysis.text(), resources, diagnostics, others }
    }
}

/// Writes all findings in one format.
pub(super) fn write(out: &mut dyn Write, format: Format, files: &[Checked]) -> io::Result<()> {
    match format {
        Format::Human => human::write(out, files),
        Format::Json => json::write(out, files),
        Format::Sarif => sarif::write(out, files),
        Format::Github => github::write(out, files),
        Format::Junit => junit::write(out, files),
    }
}

/// Writes the findings of one file for people, without a summary.
pub(super) fn excerpts(out: &mut dyn Write, file: &Checked) -> io::Result<()> {
    human::findings(out, file)
}
