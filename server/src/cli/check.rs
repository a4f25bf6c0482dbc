//! `llsd check`: reports findings of files, folders or what a builder makes of them.

use super::baseline::Baseline;
use super::bases::{self, GivenBase, assumed};
use super::fix::Fixed;
use super::input::{Inputs, Source, hosts};
use super::report::{self, Checked, Format, Report};
use super::verdicts::{File, check, code};
use super::{CLEAN, FAILURE, complain};
use crate::built::{self, Built, Origin};
use crate::project::FILE_NAME;
use clap::Args;
use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Say what is wrong with the resources in files
///
/// Exits with 0 if there is neither an error nor a warning, 1 if there is, 2 if something cannot be read.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Files, directories (the manifests below them), or - for standard input
    #[arg(required_unless_present_any = ["kustomize", "helm"], value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Check what `kubectl kustomize` (or `kustomize`) builds from this folder, too; nothing is fetched
    #[arg(short = 'k', long, value_name = "DIR")]
    kustomize: Vec<PathBuf>,
    /// Check what `helm template` makes of this chart, too; nothing is fetched
    #[arg(long, value_name = "CHART")]
    helm: Vec<PathBuf>,
    /// A file of values for the charts
    #[arg(long, value_name = "FILE", requires = "helm")]
    values: Vec<PathBuf>,
    #[command(flatten)]
    base: GivenBase,
    /// How to say it
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    /// Check what code blocks of YAML in the Markdown files of directories say, too
    #[arg(long)]
    markdown: bool,
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
    let base = match arguments.base.read() {
        Ok(base) => base,
        Err(problem) => {
            complain(&problem);
            return Ok(FAILURE);
        }
    };
    let mut inputs = Inputs::with_hosts(&arguments.paths, hosts(arguments.markdown));
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
    let files: Vec<File> = File::read(sources, &mut inputs).into_iter().map(|file| file.on(base.as_ref())).collect();
    inputs.tell_left_out();
    inputs.unreadable.iter().for_each(|problem| complain(problem));
    let unreadable = std::mem::take(&mut inputs.unreadable);
    let mut built = Built::default();
    let project = |place: &Path| inputs.project(&Source::File(place.to_path_buf()));
    let assumed = |folder: &Path| assumed(project(&folder.join(FILE_NAME)).as_deref(), base.as_ref());
    let folders = arguments.kustomize.iter().map(|folder| built.kustomization(folder, assumed(folder), &|| false));
    let mut problems: Vec<String> = folders.filter_map(Result::err).collect();
    let charts = arguments.helm.iter().map(|chart| built.chart(chart, &arguments.values, assumed(chart)));
    problems.extend(charts.filter_map(Result::err));
    let mut built: Vec<Checked> = built.finish().into_iter().map(of_built).collect();
    for file in &mut built {
        if let Some(project) = project(Path::new(&file.name)) {
            file.weigh(&project.severities);
        }
    }
    let mut report = Report { files: check(&files), unreadable };
    report.files.extend(built);
    arguments.base.unused(&report.files).iter().for_each(|line| complain(line));
    if base.is_none() {
        let of = |file: &Checked| project(Path::new(&file.name));
        bases::unused(&arguments.paths, &report.files, &of).iter().for_each(|line| complain(line));
    }
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
    // where nothing could be looked at, nothing can be said
    if problems.is_empty() || !report.files.is_empty() {
        report::write(&mut out, arguments.format, &report, arguments.show_unchecked)?;
    }
    out.flush()?;
    problems.iter().for_each(|problem| complain(problem));
    Ok(if problems.is_empty() { code(&report) } else { FAILURE })
}

/// What was found in a file that something built is made of, for the report.
fn of_built(origin: Origin) -> Checked {
    Checked {
        name: built::shown(&origin.file),
        text: origin.text,
        resources: origin.resources,
        configs: 0,
        based_on: origin.based_on,
        diagnostics: origin.diagnostics,
        unchecked: Vec::new(),
        others: BTreeMap::new(),
    }
}
