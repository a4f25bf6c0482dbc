//! `llsd migrate`.

use super::input::Source;
use super::{CLEAN, FAILURE, FINDINGS, chosen, complain, fix};
use crate::ide;
use clap::Args;
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

/// Rewrite v1alpha1 resources as v1alpha2, comments kept
///
/// What does not mean the same as before is said on standard error. ConfigMaps and Secrets in the files of the same
/// directory are taken into account.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The file, or - for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Change the file instead of printing the result
    #[arg(long)]
    write: bool,
}

/// Prints or writes the whole file with its resources rewritten.
pub(super) fn run(arguments: &Arguments) -> io::Result<u8> {
    let source = Source::named(&arguments.file);
    let (text, analysis) = match chosen::read(&source) {
        Ok(read) => read,
        Err(code) => return Ok(code),
    };
    let older: BTreeSet<usize> = analysis
        .resources()
        .into_iter()
        .filter(|resource| resource.version == "v1alpha1")
        .map(|resource| resource.document)
        .collect();
    if older.is_empty() {
        complain(&format!("{source} has no v1alpha1 resource; nothing to migrate"));
        if !arguments.write {
            io::stdout().write_all(text.as_bytes())?;
        }
        return Ok(CLEAN);
    }
    let mut edits = Vec::new();
    for document in older {
        let Some(migrated) = ide::migrate(&analysis, document) else {
            complain(&format!("{source}: cannot migrate what is not well-formed; `llsd check` shows where"));
            return Ok(FINDINGS);
        };
        migrated.report.iter().for_each(|line| complain(&format!("note: {line}")));
        edits.extend(migrated.edits);
    }
    let migrated = fix::apply(&text, &edits);
    match &source {
        Source::File(path) if arguments.write => {
            if let Err(error) = fs::write(path, migrated) {
                complain(&format!("cannot write {source}: {error}"));
                return Ok(FAILURE);
            }
        }
        _ => io::stdout().write_all(migrated.as_bytes())?,
    }
    Ok(CLEAN)
}
