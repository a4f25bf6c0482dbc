//! `llsd check`.

use super::baseline::Baseline;
use super::fix::Fixed;
use super::input::{Inputs, Source};
use super::report::{self, Checked, Format, Other, Report};
use super::{CLEAN, FAILURE, FINDINGS, complain};
use crate::ide::{self, Analysis, Severity, Workspace};
use crate::project::Project;
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
    /// Files, directories (the manifests below them), or - for standard input
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// How to say it
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    /// Apply the fixes that leave nothing to decide first, as `llsd fix` does
    #[arg(long)]
    fix: bool,
    /// Also say which documents have no resource, and which rules could not be decided, each with its reason
    #[arg(long)]
    show_unchecked: bool,
    /// Speak of findings only that this file does not know
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Write all findings of now to the file of --baseline, and exit with 0
    #[arg(long, requires = "baseline", conflicts_with = "fix")]
    write_baseline: bool,
}

/// Checks all files against each other and prints what was found.
pub(super) fn run(arguments: &Arguments) -> io::Result<u8> {
    let known = match &arguments.baseline {
        Some(path) if !arguments.write_baseline => match Baseline::read(path) {
            Ok(known) => Some((path, known)),
            Err(problem) => {
                complain(&problem);
                return Ok(FAILURE);
            }
        },
        _ => None,
    };
    let mut inputs = Inputs::find(&arguments.paths);
    let sources = std::mem::take(&mut inputs.sources);
    if arguments.fix {
        for source in sources.iter().filter(|source| matches!(source, Source::File(_))) {
            // What cannot be read is told below, once.
            if let Ok(Fixed { line: Some(line), .. }) = super::fix::fix_source(source, inputs.project(source), false) {
                writeln!(io::stderr(), "{line}")?;
            }
        }
        match super::fix::fix_together(&sources, false) {
            Ok(together) => together.lines.iter().try_for_each(|line| writeln!(io::stderr(), "{line}"))?,
            Err(problem) => complain(&problem),
        }
    }
    let files = File::read(sources, &mut inputs);
    inputs.tell_left_out();
    inputs.unreadable.iter().for_each(|problem| complain(problem));
    let mut report = Report { files: check(&files), unreadable: inputs.unreadable };
    if let (true, Some(path)) = (arguments.write_baseline, &arguments.baseline) {
        return Ok(match Baseline::write(path, &report.files) {
            Ok(count) => {
                complain(&format!("{} knows {count} findings now", path.display()));
                if report.unreadable.is_empty() { CLEAN } else { FAILURE }
            }
            Err(problem) => {
                complain(&problem);
                FAILURE
            }
        });
    }
    if let Some((path, known)) = known {
        let (hidden, mended) = known.hide(path, &mut report.files);
        if hidden > 0 {
            complain(&format!("{hidden} findings are known to {}", path.display()));
        }
        if mended > 0 {
            let name = path.display();
            complain(&format!("{mended} findings that {name} knows are found no more; --write-baseline forgets them"));
        }
    }
    let mut out = BufWriter::new(io::stdout().lock());
    report::write(&mut out, arguments.format, &report, arguments.show_unchecked)?;
    out.flush()?;
    Ok(code(&report))
}

/// A file that is checked.
pub(super) struct File {
    /// As it was named.
    name: String,
    /// The same however it is named.
    key: Arc<str>,
    text: Arc<str>,
    project: Option<Arc<Project>>,
}

impl File {
    /// A source with its text.
    pub(super) fn new(source: &Source, text: Arc<str>, project: Option<Arc<Project>>) -> Self {
        Self { name: source.to_string(), key: source.key(), text, project }
    }

    /// Reads sources; what cannot be read is noted in `inputs`.
    fn read(sources: Vec<Source>, inputs: &mut Inputs) -> Vec<Self> {
        let texts: Vec<_> = sources.par_iter().map(Source::read).collect();
        let mut files = Vec::with_capacity(texts.len());
        for (source, text) in sources.into_iter().zip(texts) {
            match text {
                Ok(text) => files.push(Self::new(&source, text, inputs.project(&source))),
                Err(problem) => inputs.unreadable.push(problem),
            }
        }
        files
    }

    /// What is known of others, with the llama-stack version that the team assumes.
    fn assuming(&self, workspace: Workspace) -> Workspace {
        workspace.assuming(self.project.as_ref().and_then(|project| project.llama_stack_version.as_deref()))
    }

    fn checked(&self, analysis: &Analysis, elsewhere: report::Elsewhere<'_>) -> Checked {
        let mut checked = Checked::new(self.name.clone(), analysis, elsewhere);
        if let Some(project) = &self.project {
            checked.weigh(&project.severities);
        }
        checked
    }
}

/// Every file on its own, then once more those that may have to do with others.
pub(super) fn check(files: &[File]) -> Vec<Checked> {
    let alone = |file: &File| file.assuming(Workspace::new());
    let first: Vec<Analysis> =
        files.par_iter().map(|file| ide::analyse(file.text.clone(), None, &alone(file))).collect();
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
            return file.checked(analysis, &elsewhere);
        }
        let workspace = file.assuming(workspace.seen_by(&file.key));
        file.checked(&ide::analyse(file.text.clone(), Some(analysis), &workspace), &elsewhere)
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
        let source = Source::File(path);
        let key = source.key();
        if let (false, Ok(text)) = (known.contains(&*key), source.read()) {
            workspace.set(&key, ide::analyse(text, None, &Workspace::new()).objects());
        }
    }
}

/// The exit code that a report stands for.
pub(super) fn code(report: &Report) -> u8 {
    let mut found = report.files.iter().flat_map(|file| &file.diagnostics);
    if !report.unreadable.is_empty() {
        FAILURE
    } else if found.any(|found| found.severity <= Severity::Warning) {
        FINDINGS
    } else {
        CLEAN
    }
}
