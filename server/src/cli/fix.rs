//! `llsd fix`, and `llsd check --fix`.

use super::input::{self, Source};
use super::project::Project;
use super::{CLEAN, FAILURE, complain};
use crate::ide::{self, Severity, TextEdit, Workspace};
use clap::Args;
use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

/// One fix may lay bare the next mistake; more rounds than this mean that two fixes undo each other.
const ROUNDS: usize = 10;

/// Apply the fixes that leave nothing to decide, comments kept
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Files, directories (their *.yaml and *.yml files), or - to fix from standard input to standard output
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Say what would change and write nothing
    #[arg(long)]
    dry_run: bool,
}

/// Fixes files in place and says which.
pub(super) fn run(arguments: &Arguments) -> io::Result<u8> {
    let (sources, problems) = input::expand(&arguments.paths);
    let mut code = if problems.is_empty() { CLEAN } else { FAILURE };
    problems.iter().for_each(|problem| complain(problem));
    for source in &sources {
        match fix_source(source, arguments.dry_run) {
            Ok(None) => {}
            Ok(Some(line)) => writeln!(io::stdout(), "{line}")?,
            Err(problem) => {
                complain(&problem);
                code = FAILURE;
            }
        }
    }
    match fix_together(&sources, arguments.dry_run) {
        Ok(lines) => lines.iter().try_for_each(|line| writeln!(io::stdout(), "{line}"))?,
        Err(problem) => {
            complain(&problem);
            code = FAILURE;
        }
    }
    Ok(code)
}

/// Makes the fixes that reach beyond one document: in named files only. Returns lines that say so.
pub(super) fn fix_together(sources: &[Source], dry_run: bool) -> Result<Vec<String>, String> {
    let files: Vec<_> = sources.iter().filter(|source| matches!(source, Source::File(_))).cloned().collect();
    // What cannot be read has been told.
    let (mut project, _) = Project::read(&files);
    let mut lines = Vec::new();
    for file in project.named() {
        let actions = project.about(&file).map(|question| ide::fixes_elsewhere(&question)).unwrap_or_default();
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
    Ok(lines)
}

/// Fixes one source. Some: a line that says so.
pub(super) fn fix_source(source: &Source, dry_run: bool) -> Result<Option<String>, String> {
    let text = source.read().map_err(|problem| problem.to_string())?;
    let (fixed, titles) = fixed(&text);
    if let Source::File(path) = source {
        if titles.is_empty() {
            return Ok(None);
        }
        if !dry_run {
            fs::write(path, fixed).map_err(|error| format!("cannot write {source}: {error}"))?;
        }
        let done = if dry_run { "would fix" } else { "fixed" };
        return Ok(Some(format!("{done} {source}: {}", titles.join("; "))));
    }
    if !dry_run {
        io::stdout().write_all(fixed.as_bytes()).map_err(|error| error.to_string())?;
    }
    Ok(None)
}

/// The text after all rounds, and what was done. A round that would add an error is left out.
fn fixed(text: &str) -> (String, Vec<String>) {
    let (mut text, mut titles) = (text.to_owned(), Vec::new());
    let workspace = Workspace::new();
    let mut analysis = ide::analyse(text.as_str().into(), None, &workspace);
    for _ in 0..ROUNDS {
        let edits = ide::fix_all(&analysis);
        let next = apply(&text, &edits);
        if edits.is_empty() || next == text {
            break;
        }
        let after = ide::analyse(next.as_str().into(), Some(&analysis), &workspace);
        if errors(&after) > errors(&analysis) {
            break;
        }
        let found = analysis.diagnostics();
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

/// `text` with edits applied that do not overlap.
pub(super) fn apply(text: &str, edits: &[TextEdit]) -> String {
    let mut edits: Vec<_> = edits.iter().collect();
    edits.sort_by_key(|edit| (edit.span.start, edit.span.end));
    let (mut result, mut at) = (String::with_capacity(text.len()), 0);
    for edit in edits {
        let Some(kept) = text.get(at..edit.span.start) else { continue };
        result.push_str(kept);
        result.push_str(&edit.new_text);
        at = edit.span.end;
    }
    result.push_str(text.get(at..).unwrap_or_default());
    result
}
