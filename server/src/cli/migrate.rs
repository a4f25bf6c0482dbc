//! `llsd migrate`.

use super::input::{self, Source};
use super::project::Project;
use super::{CLEAN, FAILURE, FINDINGS, complain};
use crate::ide::{self, Analysis, Migrated, Span};
use clap::Args;
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

/// Rewrite v1alpha1 resources as v1alpha2, comments kept
///
/// What does not mean the same as before is said on standard error. A ConfigMap with the server's config is folded into
/// the resource, also from another file that was named or lies beside it.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Files, directories (their *.yaml and *.yml files), or - for standard input
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Change the files instead of printing the result
    #[arg(long)]
    write: bool,
    /// Remove ConfigMaps that were folded and to which nothing in these files refers any more
    #[arg(long)]
    remove_config_maps: bool,
}

/// Prints or writes whole files with their resources rewritten.
pub(super) fn run(arguments: &Arguments) -> io::Result<u8> {
    let (sources, mut problems) = input::expand(&arguments.paths);
    let (mut project, unreadable) = Project::read(&sources);
    problems.extend(unreadable);
    problems.iter().for_each(|problem| complain(problem));
    if !problems.is_empty() {
        return Ok(FAILURE);
    }
    let old: Vec<Arc<str>> = project
        .named()
        .into_iter()
        .filter(|file| project.analysis_of(file).is_some_and(|known| !older(known).is_empty()))
        .collect();
    let first = match (old.as_slice(), sources.as_slice()) {
        ([], [one]) => {
            complain(&format!("{one} has no v1alpha1 resource; nothing to migrate"));
            one.key()
        }
        ([], _) => {
            complain(&"there is no v1alpha1 resource; nothing to migrate");
            return Ok(CLEAN);
        }
        ([_, _, ..], _) if !arguments.write => {
            complain(&format!("{} files have v1alpha1 resources; --write changes them all", old.len()));
            return Ok(FAILURE);
        }
        ([first, ..], _) => first.clone(),
    };
    for file in &old {
        if !migrate(&mut project, file, arguments.remove_config_maps) {
            complain(&format!(
                "{}: cannot migrate what is not well-formed; `llsd check` shows where",
                project.shown(file)
            ));
            return Ok(FINDINGS);
        }
    }
    if !arguments.write || sources == [Source::Stdin] {
        if !(arguments.write && old.is_empty()) {
            io::stdout().write_all(project.text(&first).unwrap_or_default().as_bytes())?;
        }
        for other in project.changed().iter().filter(|file| **file != first) {
            complain(&format!("note: {} changes too; --write does it", project.shown(other)));
        }
        return Ok(CLEAN);
    }
    match project.write() {
        Ok(()) => Ok(CLEAN),
        Err(problem) => {
            complain(&problem);
            Ok(FAILURE)
        }
    }
}

/// The documents with resources of the older version.
fn older(analysis: &Analysis) -> BTreeSet<usize> {
    let resources = analysis.resources().into_iter().filter(|resource| resource.version == "v1alpha1");
    resources.map(|resource| resource.document).collect()
}

/// Migrates all resources of a file, the last document first: what stands before it keeps its place. False if one cannot
/// be.
fn migrate(project: &mut Project, file: &Arc<str>, remove: bool) -> bool {
    let documents = project.analysis_of(file).map(older).unwrap_or_default();
    let mut reports = Vec::new();
    for document in documents.into_iter().rev() {
        let Some(migrated) = rewritten(project, file, document, remove) else { return false };
        let Migrated { edits, others, deletes, report, left } = migrated;
        project.apply(file, &edits, &others, deletes.as_ref());
        let left = left.into_iter().map(|text| format!("stays in the ConfigMap only: {text}"));
        reports.push(report.into_iter().chain(left).collect::<Vec<_>>());
    }
    reports.iter().rev().flatten().for_each(|line| complain(&format!("note: {line}")));
    true
}

fn rewritten(project: &Project, file: &Arc<str>, document: usize, remove: bool) -> Option<Migrated> {
    let question = project.about(file)?;
    let analysis = project.analysis_of(file)?;
    if remove {
        let here = analysis.resources().into_iter().find(|resource| resource.document == document)?.span;
        let offers = ide::migration_offers(&question, Span::new(here.start, here.start)).into_iter();
        let offers = offers.filter(|offer| offer.document == document && offer.remove);
        let mut possible = offers.filter_map(|offer| ide::accept_migration(&question, &offer)).filter(|migrated| {
            let others = migrated.others.iter().map(|other| &other.file);
            project.may_change(others.chain(&migrated.deletes))
        });
        if let Some(migrated) = possible.next() {
            return Some(migrated);
        }
    }
    ide::migrate(analysis, document)
}
