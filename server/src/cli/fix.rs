//! `llsd fix`, and `llsd check --fix`.

use super::input::{Inputs, Source, Unreadable, hosts};
use super::project::Project as Files;
use super::report::{self, Format, Report};
use super::verdicts::{self, File};
use super::{FAILURE, complain};
use crate::ide::{self, Severity, Workspace};
use crate::project::Project;
use crate::severities::Severities;
use crate::surroundings;
use clap::Args;
use llsd_yaml::edit;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

/// One fix may lay bare the next mistake; more rounds than this mean that two fixes undo each other.
const ROUNDS: usize = 10;

/// Apply the fixes that leave nothing to decide, comments kept
///
/// Says what remains, and exits with 1 if that is an error or a warning.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Files, directories (their *.yaml and *.yml files), or - to fix from standard input to standard output
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Fix code blocks of YAML in the Markdown files of directories, too
    #[arg(long)]
    markdown: bool,
    /// Say what would change and write nothing
    #[arg(long)]
    dry_run: bool,
}

/// Fixes files in place, and says which and what remains.
pub(super) fn run(arguments: &Arguments) -> io::Result<u8> {
    let mut inputs = Inputs::with_hosts(&arguments.paths, hosts(arguments.markdown));
    let sources = std::mem::take(&mut inputs.sources);
    inputs.tell_left_out();
    let (mut files, mut failed) = (Vec::new(), false);
    for source in sources.iter() {
        let project = inputs.project(source);
        match fix_source(source, project.clone(), arguments.dry_run) {
            Ok(Fixed { line, text }) => {
                if let Some(line) = line {
                    writeln!(io::stdout(), "{line}")?;
                }
                files.push((source, text, project));
            }
            Err(Failed::Reading(problem)) => inputs.unreadable.push(problem),
            Err(Failed::Writing(problem)) => {
                complain(&problem);
                failed = true;
            }
        }
    }
    let together = match fix_together(&sources, arguments.dry_run) {
        Ok(together) => together,
        Err(problem) => {
            complain(&problem);
            failed = true;
            Together::default()
        }
    };
    together.lines.iter().try_for_each(|line| writeln!(io::stdout(), "{line}"))?;
    inputs.unreadable.iter().for_each(|problem| complain(problem));
    let remaining = |(source, text, project): (&Source, Arc<str>, Option<Arc<Project>>)| {
        let text = together.texts.get(&source.key()).cloned().unwrap_or(text);
        File::new(source, text, project)
    };
    let files: Vec<File> = files.into_iter().map(remaining).collect();
    let report = Report { files: verdicts::check(&files), unreadable: inputs.unreadable };
    // The text that standard input became is on standard output.
    if sources.contains(&Source::Stdin) {
        report::write(&mut io::stderr().lock(), Format::Human, &report, false)?;
    } else {
        report::write(&mut io::stdout().lock(), Format::Human, &report, false)?;
    }
    Ok(if failed { FAILURE } else { verdicts::code(&report) })
}

/// Fixes that reach beyond one document.
#[derive(Debug, Default)]
pub(super) struct Together {
    /// What was done, a line each.
    pub(super) lines: Vec<String>,
    /// The files that changed, also where that was not written.
    texts: BTreeMap<Arc<str>, Arc<str>>,
}

/// Makes the fixes that reach beyond one document: in named files only.
pub(super) fn fix_together(sources: &[Source], dry_run: bool) -> Result<Together, String> {
    // What other files have to do with scripts and pages is not followed.
    let is_manifest = |source: &&Source| matches!(source, Source::File(_)) && source.host().is_none();
    let files: Vec<_> = sources.iter().filter(is_manifest).cloned().collect();
    // What cannot be read has been told.
    let (mut project, _) = Files::read(&files);
    let mut lines = Vec::new();
    for file in project.named() {
        let actions = project.about(&file).map(|query| ide::fixes_elsewhere(&query)).unwrap_or_default();
        // one at a time: the next one may be about the same object
        if let Some(action) =
            actions.into_iter().find(|action| project.may_change(action.others.iter().map(|other| &other.file)))
        {
            let changed = action.others.iter().map(|other| &other.file);
            let changed = changed.chain((!action.edits.is_empty()).then_some(&file));
            let shown: Vec<String> = changed.map(|file| project.shown(file)).collect();
            let done = if dry_run { "would fix" } else { "fixed" };
            lines.push(format!("{done} {}: {}", shown.join(", "), action.title));
            project.apply(&file, &action.edits, &action.others, None);
        }
    }
    if !dry_run {
        project.write()?;
    }
    let texts = project.changed().into_iter().filter_map(|file| Some((file.clone(), project.text(&file)?))).collect();
    Ok(Together { lines, texts })
}

/// A source after its fixes.
#[derive(Debug)]
pub(super) struct Fixed {
    /// A line that says what was done; `None`: nothing.
    pub(super) line: Option<String>,
    /// The text, also where it was not written.
    pub(super) text: Arc<str>,
}

/// Why a source was not fixed.
#[derive(Debug)]
pub(super) enum Failed {
    /// The file cannot be read, or is not UTF-8.
    Reading(Unreadable),
    /// The text could not be written; a sentence.
    Writing(String),
}

/// Fixes one source: what its project does not want to hear of stays as it is.
pub(super) fn fix_source(source: &Source, project: Option<Arc<Project>>, dry_run: bool) -> Result<Fixed, Failed> {
    let text = source.read().map_err(Failed::Reading)?;
    let severities = project.map(|project| project.severities.clone()).unwrap_or_default();
    let looked_at = |text: &str| source.host().map_or_else(|| text.to_owned(), |host| host.manifests(text));
    let (fixed, titles) = fixed(&text, &looked_at, &severities, &around(source, &looked_at(&text)));
    let mut line = None;
    if let Source::File(path) = source {
        if titles.is_empty() {
            return Ok(Fixed { line, text });
        }
        if !dry_run {
            let told = |error| Failed::Writing(format!("cannot write {source}: {error}"));
            fs::write(path, &fixed).map_err(told)?;
        }
        let done = if dry_run { "would fix" } else { "fixed" };
        line = Some(format!("{done} {source}: {}", titles.join("; ")));
    } else if !dry_run {
        io::stdout().write_all(fixed.as_bytes()).map_err(|error| Failed::Writing(error.to_string()))?;
    }
    Ok(Fixed { line, text: fixed.into() })
}

/// What a file has to be judged by: whether a kustomization takes it as a patch, or it is nothing without a chart.
fn around(source: &Source, text: &str) -> Workspace {
    let mut workspace = Workspace::new();
    let alone = ide::analyse(text.into(), None, &workspace);
    if let (Source::File(path), true) = (source, alone.may_be_relevant()) {
        workspace.set(&source.key(), alone.objects());
        surroundings::learn(&BTreeSet::from([path.clone()]), &mut workspace);
        // what it refers to is looked for where all files are fixed together
        if alone.is_relevant() && !workspace.is_patch(&source.key()) {
            return Workspace::new();
        }
    }
    workspace.seen_by(&source.key())
}

/// The text after all rounds, and what was done. A round that would add an error is left out. `looked_at`: the part of a
/// text that is analysed, at the same places.
fn fixed(
    text: &str,
    looked_at: &dyn Fn(&str) -> String,
    severities: &Severities,
    workspace: &Workspace,
) -> (String, Vec<String>) {
    let (mut text, mut titles) = (text.to_owned(), Vec::new());
    let mut analysis = ide::analyse(looked_at(&text).into(), None, workspace);
    for _ in 0..ROUNDS {
        let mut found = analysis.diagnostics();
        found.retain(|found| severities.of(found.code, found.severity).is_some());
        let edits = ide::preferred_fixes(&found);
        let next = edit::apply(&text, &edits);
        if edits.is_empty() || next == text {
            break;
        }
        let after = ide::analyse(looked_at(&next).into(), Some(&analysis), workspace);
        if errors(&after) > errors(&analysis) {
            break;
        }
        let done = found.iter().filter_map(|found| found.fixes.iter().find(|fix| fix.preferred));
        let done = done.filter(|fix| fix.edits.iter().all(|edit| edits.contains(edit)));
        titles.extend(done.map(|fix| fix.title.clone()));
        (text, analysis) = (next, after);
    }
    titles.dedup();
    (text, titles)
}

fn errors(analysis: &ide::Analysis) -> usize {
    analysis.diagnostics().iter().filter(|found| found.severity == Severity::Error).count()
}
