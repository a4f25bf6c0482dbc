//! `llsd check`.

use super::input::{self, Unreadable};
use super::report::{self, Checked, Format};
use super::{CLEAN, FAILURE, FINDINGS, complain};
use crate::ide::{self, Analysis, Severity, Workspace};
use clap::Args;
use rayon::prelude::*;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::sync::Arc;

/// Say what is wrong with the resources in files
///
/// Exits with 0 if there is neither an error nor a warning, 1 if there is, 2 if something cannot be read.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Files, directories (their *.yaml and *.yml files), or - for standard input
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// How to say it
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    /// Apply the fixes that leave nothing to decide first, as `llsd fix` does
    #[arg(long)]
    fix: bool,
}

/// Checks all files against each other and prints what was found.
pub(super) fn run(arguments: &Arguments) -> io::Result<u8> {
    let (sources, mut unreadable) = input::expand(&arguments.paths);
    if arguments.fix {
        for source in sources.iter().filter(|source| matches!(source, input::Source::File(_))) {
            // What cannot be read is told below, once.
            if let Ok(Some(line)) = super::fix::fix_source(source, false) {
                writeln!(io::stderr(), "{line}")?;
            }
        }
    }
    let texts: Vec<_> = sources.par_iter().map(input::Source::read).collect();
    let mut files = Vec::with_capacity(texts.len());
    for (source, text) in sources.into_iter().zip(texts) {
        match text {
            Ok(text) => files.push((source.to_string(), text)),
            Err(problem) => unreadable.push(problem),
        }
    }
    let checked = check(&files);
    let mut out = BufWriter::new(io::stdout().lock());
    report::write(&mut out, arguments.format, &checked)?;
    out.flush()?;
    unreadable.iter().for_each(|problem| complain(problem));
    Ok(code(&checked, &unreadable))
}

/// Every file on its own, then once more those that may refer to objects of others.
fn check(files: &[(String, Arc<str>)]) -> Vec<Checked> {
    let alone = Workspace::new();
    let first: Vec<Analysis> = files.par_iter().map(|(_, text)| ide::analyse(text.clone(), None, &alone)).collect();
    let mut workspace = Workspace::new();
    for ((name, _), analysis) in files.iter().zip(&first) {
        workspace.set(name, analysis.objects());
    }
    let together = files.len() > 1 && workspace.objects().next().is_some();
    let again = |(name, text): &(String, Arc<str>), analysis: Analysis| {
        if !together || !analysis.is_relevant() {
            return Checked::new(name.clone(), &analysis);
        }
        Checked::new(name.clone(), &ide::analyse(text.clone(), Some(&analysis), &workspace.seen_by(name)))
    };
    files.par_iter().zip(first).map(|(file, analysis)| again(file, analysis)).collect()
}

fn code(checked: &[Checked], unreadable: &[Unreadable]) -> u8 {
    let mut found = checked.iter().flat_map(|file| &file.diagnostics);
    if !unreadable.is_empty() {
        FAILURE
    } else if found.any(|found| found.severity <= Severity::Warning) {
        FINDINGS
    } else {
        CLEAN
    }
}
