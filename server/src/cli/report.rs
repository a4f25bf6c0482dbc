//! Findings for people and for machines.

mod github;
mod human;
mod json;
mod junit;
mod place;
mod sarif;

use super::input::Unreadable;
use crate::ide::{self, Analysis, Diagnostic, Span, Unchecked};
use crate::severities::Severities;
use clap::ValueEnum;
use place::{Lines, Place};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::sync::Arc;

/// The forms in which findings can be written.
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
    /// The text that was checked: places count its lines.
    pub(super) text: Arc<str>,
    /// How many resources it holds.
    pub(super) resources: usize,
    /// How many configs of the server it holds.
    pub(super) configs: usize,
    /// The names and images of the distributions whose base configs its resources start from.
    pub(super) based_on: BTreeSet<String>,
    /// In the order of their places.
    pub(super) diagnostics: Vec<Diagnostic>,
    /// What could not be decided, and documents without a resource.
    pub(super) unchecked: Vec<Unchecked>,
    /// Places in other files that belong to some of them, by number.
    pub(super) others: BTreeMap<usize, Other>,
}

/// A place in another file.
#[derive(Clone, Debug)]
pub(super) struct Other {
    /// The file, as it is named on the command line.
    name: String,
    /// The first character of the place.
    start: Place,
    /// The place behind the last character.
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
    /// Whether there was something to check.
    pub(super) fn is_ours(&self) -> bool {
        self.resources + self.configs > 0
    }

    /// Keeps the findings that `wanted` says; places in other files stay with theirs.
    pub(super) fn retain(&mut self, mut wanted: impl FnMut(&Diagnostic) -> bool) {
        let mut others = std::mem::take(&mut self.others);
        let all = std::mem::take(&mut self.diagnostics).into_iter().enumerate();
        for (number, found) in all.filter(|(_, found)| wanted(found)) {
            if let Some(other) = others.remove(&number) {
                self.others.insert(self.diagnostics.len(), other);
            }
            self.diagnostics.push(found);
        }
    }

    /// Shows the findings as a team wants them.
    pub(super) fn weigh(&mut self, severities: &Severities) {
        self.retain(|found| severities.of(found.code, found.severity).is_some());
        for found in &mut self.diagnostics {
            found.severity = severities.of(found.code, found.severity).unwrap_or(found.severity);
        }
    }

    /// What an analysis says of a file.
    pub(super) fn new(name: String, analysis: &Analysis, elsewhere: Elsewhere<'_>) -> Self {
        let diagnostics = analysis.diagnostics();
        let others = diagnostics.iter().enumerate();
        let others = others.filter_map(|(number, found)| Some((number, elsewhere(found.elsewhere.as_ref()?)?)));
        let (others, resources, unchecked) = (others.collect(), analysis.resources().len(), analysis.unchecked());
        let (configs, based_on) = (analysis.configs(), analysis.based_on());
        Self { name, text: analysis.text(), resources, configs, based_on, diagnostics, unchecked, others }
    }
}

/// Everything that a check has to say.
#[derive(Debug)]
pub(super) struct Report {
    /// The files that could be read.
    pub(super) files: Vec<Checked>,
    /// Inputs that could not be read: they count as an error of the whole run.
    pub(super) unreadable: Vec<Unreadable>,
}

/// Writes everything in one format. What was not checked is for people only where they ask for it.
pub(super) fn write(out: &mut dyn Write, format: Format, report: &Report, show_unchecked: bool) -> io::Result<()> {
    match format {
        Format::Human => human::write(out, report, show_unchecked),
        Format::Json => json::write(out, report),
        Format::Sarif => sarif::write(out, report),
        Format::Github => github::write(out, &report.files),
        Format::Junit => junit::write(out, report),
    }
}

/// Writes the findings of one file for people, without a summary.
pub(super) fn excerpts(out: &mut dyn Write, file: &Checked) -> io::Result<()> {
    human::findings(out, file)
}
