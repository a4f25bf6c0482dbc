//! `llsd fmt`: formats files as the editor does.

use super::input::{self, Source};
use super::{CLEAN, FAILURE, FINDINGS, complain};
use crate::ide::{self, FormatOptions, Workspace};
use clap::Args;
use llsd_yaml::edit;
use rayon::prelude::*;
use similar::TextDiff;
use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

/// Format resources, and the Secrets and ConfigMaps beside them, as the editor does
///
/// Only blanks change, and no value. Files without one of these, templates, and documents that are not well-formed stay
/// as they are.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Files, directories (the manifests below them), or - to format from standard input to standard output
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Write nothing; exit with 1 if a file is not formatted
    #[arg(long)]
    check: bool,
    /// Write nothing; print the changes as a unified diff, and exit with 1 if there are some
    #[arg(long)]
    diff: bool,
}

/// Formats files in place, or says which would change.
pub(super) fn run(arguments: &Arguments) -> io::Result<u8> {
    let (sources, mut problems) = input::expand(&arguments.paths);
    let texts: Vec<_> = sources.into_par_iter().map(|source| (source.read().map(formatted), source)).collect();
    let dry = arguments.check || arguments.diff;
    let (mut out, mut differ) = (io::stdout().lock(), 0_usize);
    let mut failed = false;
    for (result, source) in texts {
        let (old, new) = match result {
            Ok(texts) => texts,
            Err(problem) => {
                problems.push(problem);
                continue;
            }
        };
        if source == Source::Stdin && !dry {
            out.write_all(new.as_bytes())?;
            continue;
        }
        if *old == *new {
            continue;
        }
        differ += 1;
        if arguments.diff {
            let name = source.to_string();
            write!(out, "{}", TextDiff::from_lines(&*old, &*new).unified_diff().header(&name, &name))?;
        } else if arguments.check {
            writeln!(out, "would format {source}")?;
        } else if let Source::File(path) = &source {
            match fs::write(path, &new) {
                Ok(()) => writeln!(out, "formatted {source}")?,
                Err(error) => {
                    complain(&format!("cannot write {source}: {error}"));
                    failed = true;
                }
            }
        }
    }
    problems.iter().for_each(|problem| complain(problem));
    Ok(match () {
        () if failed || !problems.is_empty() => FAILURE,
        () if dry && differ > 0 => FINDINGS,
        () => CLEAN,
    })
}

/// A text, and how it is to be.
fn formatted(text: std::sync::Arc<str>) -> (std::sync::Arc<str>, String) {
    let analysis = ide::analyse(text.clone(), None, &Workspace::new());
    let new = edit::apply(&text, &ide::format(&analysis, None, &FormatOptions::default()));
    (text, new)
}
