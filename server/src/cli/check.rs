//! `llsd check`.

use super::input::{self, Unreadable};
use super::report::{self, Checked, Format, Other};
use super::{CLEAN, FAILURE, FINDINGS, complain};
use crate::ide::{self, Analysis, Severity, Workspace};
use crate::workspace;
use clap::Args;
use rayon::prelude::*;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
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
        match super::fix::fix_together(&sources, false) {
            Ok(lines) => lines.iter().try_for_each(|line| writeln!(io::stderr(), "{line}"))?,
            Err(problem) => complain(&problem),
        }
    }
    let texts: Vec<_> = sources.par_iter().map(input::Source::read).collect();
    let mut files = Vec::with_capacity(texts.len());
    for (source, text) in sources.into_iter().zip(texts) {
        match text {
            Ok(text) => files.push(File { name: source.to_string(), key: source.key(), text }),
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

/// A file that is checked.
struct File {
    /// As it was named.
    name: String,
    /// The same however it is named.
    key: Arc<str>,
    text: Arc<str>,
}

/// Every file on its own, then once more those that may have to do with others.
fn check(files: &[File]) -> Vec<Checked> {
    let alone = Workspace::new();
    let first: Vec<Analysis> = files.par_iter().map(|file| ide::analyse(file.text.clone(), None, &alone)).collect();
    let mut workspace = Workspace::new();
    for (file, analysis) in files.iter().zip(&first) {
        workspace.set(&file.key, analysis.objects());
    }
    learn_what_is_applied(files, &mut workspace);
    let numbers: HashMap<&str, usize> = files.iter().enumerate().map(|(number, file)| (&*file.key, number)).collect();
    let elsewhere = |other: &ide::Elsewhere| {
        let number = *numbers.get(other.file.as_deref()?)?;
        let span = first[number].named_at(&other.resource, None)?;
        Some(Other::new(files[number].name.clone(), &files[number].text, span))
    };
    let together = files.len() > 1 && workspace.files().next().is_some();
    let again = |(file, analysis): (&File, &Analysis)| {
        if !together || !analysis.is_relevant() {
            return Checked::new(file.name.clone(), analysis, &elsewhere);
        }
        let workspace = workspace.seen_by(&file.key);
        Checked::new(file.name.clone(), &ide::analyse(file.text.clone(), Some(analysis), &workspace), &elsewhere)
    };
    files.par_iter().zip(&first).map(again).collect()
}

/// Kustomizations and charts count also where only some files of their folders were named. They are looked for beside
/// files that repeat a name only.
fn learn_what_is_applied(files: &[File], workspace: &mut Workspace) {
    let known: HashSet<&str> = files.iter().map(|file| &*file.key).collect();
    let telling: BTreeSet<PathBuf> =
        workspace.repeating().flat_map(|file| workspace::telling(Path::new(&**file))).collect();
    for path in telling {
        let source = input::Source::File(path);
        let key = source.key();
        if let (false, Ok(text)) = (known.contains(&*key), source.read()) {
            workspace.set(&key, ide::analyse(text, None, &Workspace::new()).objects());
        }
    }
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
